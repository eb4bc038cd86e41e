#include "agents/checkpointer/checkpoint_documents.h"

namespace belay::checkpointer {
namespace {

Value type_named(std::string_view name) { return Value::object({{"type", name}}); }

Value array_of(Value items) {
  return Value::object({{"type", "array"}, {"items", std::move(items)}});
}

Value object_schema(Value::Object properties) {
  return Value::object({{"type", "object"}, {"properties", std::move(properties)}});
}

Value reference_to(const std::string& name) {
  return Value::object({{"$ref", "#/components/schemas/" + name}});
}

Value value_document(const TypedValue& value) {
  if (value.text) return Value::object({{"type", value.type}, {"text", *value.text}});
  if (value.parts == 0) return Value::object({{"type", value.type}, {"data", value.data}});
  return Value::object({{"type", value.type}, {"blob", value.blob}, {"parts", value.parts}});
}

Value blob_document(const ChannelBlob& blob) {
  Value document = value_document(blob.value);
  if (blob.base.empty()) return document;
  document.as_object()->emplace("head", blob.head);
  document.as_object()->emplace("tail", blob.tail);
  return document;
}

Value channel_value_document(const ChannelValue& value) {
  Value::Array chain;
  for (const ChannelBlob& blob : value.chain) chain.push_back(blob_document(blob));
  return Value::object({{"channel", value.channel},
                        {"version", value.chain.back().version},
                        {"checkpointId", value.checkpoint_id},
                        {"chain", std::move(chain)}});
}

Value write_document(const TaskWrite& write) {
  return Value::object({{"taskId", write.taskId},
                        {"channel", write.channel},
                        {"value", value_document(write.value)}});
}

Value values_documents(const std::vector<ChannelValue>& values) {
  Value::Array documents;
  for (const ChannelValue& value : values) documents.push_back(channel_value_document(value));
  return documents;
}

Value write_documents(const std::vector<TaskWrite>& writes) {
  Value::Array documents;
  for (const TaskWrite& write : writes) documents.push_back(write_document(write));
  return documents;
}

Value text_or_null(const std::string& text) { return text.empty() ? Value() : Value(text); }

Value tuple_schema() {
  Value text = type_named("string");
  Value value = type_named("object");
  return object_schema({{"threadId", text},
                        {"checkpointNs", text},
                        {"checkpointId", text},
                        {"parentCheckpointId", Value::object({})},
                        {"checkpoint", value},
                        {"metadata", value},
                        {"values", array_of(value)},
                        {"writes", array_of(value)},
                        {"sends", Value::object({})}});
}

}  // namespace

Value tuple_document(const LoadedTuple& tuple) {
  const StoredCheckpoint& checkpoint = tuple.checkpoint;
  Value sends;
  if (tuple.sends) {
    Value::Array documents;
    for (const TypedValue& value : *tuple.sends) documents.push_back(value_document(value));
    sends = std::move(documents);
  }
  return Value::object(
      {{"threadId", checkpoint.threadId},
       {"checkpointNs", checkpoint.checkpointNs},
       {"checkpointId", checkpoint.checkpointId},
       {"parentCheckpointId", text_or_null(checkpoint.parentCheckpointId.value_or(""))},
       {"checkpoint", value_document(checkpoint.checkpoint)},
       {"metadata", value_document(checkpoint.metadata)},
       {"values", values_documents(tuple.values)},
       {"writes", write_documents(tuple.writes)},
       {"sends", std::move(sends)}});
}

Value list_page_document(const ListPage& page) {
  Value::Array tuples;
  for (const LoadedTuple& tuple : page.tuples) tuples.push_back(tuple_document(tuple));
  return Value::object({{"tuples", std::move(tuples)}, {"next", text_or_null(page.next)}});
}

Value history_page_document(const HistoryPage& page) {
  return Value::object({{"writes", write_documents(page.writes)},
                        {"seeds", values_documents(page.seeds)},
                        {"next", text_or_null(page.next)}});
}

Value removed_document(const Removed& removed) {
  return Value::object({{"checkpoints", static_cast<std::int64_t>(removed.checkpoints)},
                        {"writes", static_cast<std::int64_t>(removed.writes)},
                        {"values", static_cast<std::int64_t>(removed.values)}});
}

std::map<std::string, Value> checkpoint_schemas() {
  Value count = type_named("integer");
  Value objects = array_of(type_named("object"));
  Value any = Value::object({});
  std::map<std::string, Value> schemas;
  schemas["LangGraphTuple"] = tuple_schema();
  schemas["LangGraphTupleOrNull"] = object_schema({{"tuple", any}});
  schemas["LangGraphTuplePage"] =
      object_schema({{"tuples", array_of(reference_to("LangGraphTuple"))}, {"next", any}});
  schemas["LangGraphHistoryPage"] =
      object_schema({{"writes", objects}, {"seeds", objects}, {"next", any}});
  schemas["LangGraphPart"] = object_schema({{"data", type_named("string")}});
  schemas["LangGraphRemoved"] =
      object_schema({{"checkpoints", count}, {"writes", count}, {"values", count}});
  return schemas;
}

}  // namespace belay::checkpointer
