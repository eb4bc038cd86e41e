#include "graph/call_record.h"

#include <algorithm>

#include "base/role_name.h"
#include "belay/value.h"

namespace belay {
namespace {

std::string_view name_of(ToolChoice choice) {
  switch (choice) {
    case ToolChoice::automatic:
      return "automatic";
    case ToolChoice::none:
      return "none";
    case ToolChoice::required:
      return "required";
  }
  return "automatic";
}

Value document_of(const Message& message) {
  Value::Object members{{"role", role_name(message.role)}, {"text", message.text}};
  if (!message.tool_calls.empty()) {
    Value::Array calls;
    for (const ToolCall& call : message.tool_calls) {
      calls.push_back(
          Value::object({{"arguments", call.arguments}, {"id", call.id}, {"name", call.name}}));
    }
    members.emplace("toolCalls", std::move(calls));
  }
  if (!message.tool_call_id.empty()) members.emplace("toolCallId", message.tool_call_id);
  return Value(std::move(members));
}

template <typename T>
void add(std::string_view name, const std::optional<T>& member, Encoder& out) {
  if (!member) return;
  out.write_name(name, out.text.size() == 1);
  codec::encode(*member, out);
}

}  // namespace

Value document_of(const std::vector<ToolDefinition>& tools) {
  Value::Array all;
  for (const ToolDefinition& tool : tools) {
    all.push_back(Value::object(
        {{"description", tool.description}, {"name", tool.name}, {"parameters", tool.parameters}}));
  }
  return Value(std::move(all));
}

// Members that were added in later versions are omitted if they are unset: the hash of a request
// must remain equal to the one that older versions of Belay recorded.
Value document_of(const ModelRequest& request) {
  Value::Array messages;
  for (const Message& message : request.messages) messages.push_back(document_of(message));
  Value::Object members{{"input", request.input},
                        {"messages", Value(std::move(messages))},
                        {"purpose", request.purpose},
                        {"schema", request.response_schema}};
  if (!request.tools.empty()) members.emplace("tools", document_of(request.tools));
  if (request.tool_choice != ToolChoice::automatic) {
    members.emplace("toolChoice", name_of(request.tool_choice));
  }
  if (!request.model.empty()) members.emplace("model", request.model);
  if (request.temperature) members.emplace("temperature", *request.temperature);
  if (request.seed) members.emplace("seed", *request.seed);
  return Value(std::move(members));
}

Value shown_document(const ModelRequest& request, Value document) {
  std::size_t before = std::min(request.recorded_messages, request.messages.size());
  if (before == 0) return document;
  Value::Object members = *document.as_object();
  const Value::Array& all = *members["messages"].as_array();
  members["messages"] = Value::Array(all.begin() + static_cast<std::ptrdiff_t>(before), all.end());
  members["messagesBefore"] = static_cast<std::uint64_t>(before);
  return Value(std::move(members));
}

std::string request_hash(const Value& document) { return to_hex(sha256(to_json(document))); }

bool is_recordable(const Value& value) {
  Encoder out;
  codec::encode(value, out);
  return out.problem.empty();
}

Result<std::string> envelope_of(const CallRecord& record) {
  Encoder out;
  out.text = "{";
  if (!record.request.empty()) add("request", std::optional(record.request), out);
  if (!record.prompt.is_null()) add("prompt", std::optional(record.prompt), out);
  add("reply", record.reply, out);
  add("error", record.error, out);
  add("cost", record.cost, out);
  add("lost", record.lost, out);
  out.text += "}";
  if (out.problem.empty()) return json_envelope(out.text);
  return error(ErrorCode::invalid, "The model's reply can't be recorded: " + out.problem);
}

Result<CallRecord> call_record_in(const EffectRow& row) {
  BELAY_TRY(std::string_view text, json_in_envelope(row.envelope));
  BELAY_TRY(Value value, parse_json(text));
  return decode_json<CallRecord>(value);
}

RecordedError recorded(const Error& error) {
  RecordedError kept;
  kept.code = belay::name_of(error.code);
  kept.message = error.message;
  if (error.retry_after) kept.retry_after_ms = error.retry_after->count();
  return kept;
}

Error error_in(const RecordedError& recorded) {
  Error said =
      error(error_code_named(recorded.code).value_or(ErrorCode::unavailable), recorded.message);
  if (recorded.retry_after_ms)
    said.retry_after = std::chrono::milliseconds(*recorded.retry_after_ms);
  return said;
}

Spending spending_of(const EffectRow& row) {
  Spending counted;
  if (!is_call_record(row.name) || row.envelope.empty()) return counted;
  auto record = call_record_in(row);
  if (!record.ok()) return counted;
  bool is_open = row.status == EffectStatus::intended || row.status == EffectStatus::uncertain;
  (is_open ? counted.reserved : counted.spent) = record->cost.value_or(Cost{});
  counted.spent = counted.spent + record->lost.value_or(Cost{});
  return counted;
}

}  // namespace belay
