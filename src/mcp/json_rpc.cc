#include "mcp/json_rpc.h"

#include "models/json_sanitizer.h"

namespace belay::mcp {
namespace {

constexpr std::size_t message_depth_max = 100;
constexpr std::size_t id_bytes_max = 256;
constexpr std::size_t method_bytes_max = 256;
constexpr std::size_t fault_characters_max = 500;

Error malformed(std::string_view fault) {
  return error(ErrorCode::invalid,
               "A message is not one of JSON-RPC 2.0: " + std::string(fault) + ".");
}

bool is_id(const Value& id) {
  if (const std::string* text = id.as_string()) return text->size() <= id_bytes_max;
  return id.holds_integer();
}

Result<Message> call_of(const Value& document) {
  Message message;
  const std::string* method = document["method"].as_string();
  if (!method) return malformed("its method is not a string");
  if (method->empty() || method->size() > method_bytes_max) {
    return malformed("its method is empty or too long");
  }
  message.method = *method;
  message.params = document["params"];
  if (!message.params.is_null() && !message.params.as_object() && !message.params.as_array()) {
    return malformed("its params are neither an object nor an array");
  }
  const Value* id = document.find("id");
  if (!id) return message;
  if (!is_id(*id)) return malformed("its id is neither a string nor an integer");
  message.kind = MessageKind::request;
  message.id = *id;
  return message;
}

Result<Message> fault_of(const Value& document, Message message) {
  const Value& fault = document["error"];
  auto code = fault["code"].as_int();
  const std::string* text = fault["message"].as_string();
  if (!code || !text) return malformed("its error has no code or no message");
  message.kind = MessageKind::fault;
  message.fault.code = *code;
  message.fault.message = models::quotable(*text, fault_characters_max);
  message.fault.data = fault["data"];
  return message;
}

Result<Message> reply_of(const Value& document) {
  Message message;
  const Value* result = document.find("result");
  bool is_fault = document.find("error") != nullptr;
  if (!result && !is_fault) return malformed("it has no method, no result and no error");
  if (result && is_fault) return malformed("it has a result and an error");
  message.id = document["id"];
  // A server that cannot read the id of a request replies with null.
  if (!is_id(message.id) && !(is_fault && message.id.is_null())) {
    return malformed("its id is neither a string nor an integer");
  }
  if (is_fault) return fault_of(document, std::move(message));
  if (!result->as_object()) return malformed("its result is not an object");
  message.kind = MessageKind::result;
  message.result = *result;
  return message;
}

std::string text_of(Value::Object members) {
  members.emplace("jsonrpc", "2.0");
  return to_json(Value(std::move(members)));
}

Value::Object call_members(std::string_view method, const Value& params) {
  Value::Object members{{"method", method}};
  if (!params.is_null()) members.emplace("params", params);
  return members;
}

}  // namespace

Result<Message> parse_message(std::string_view text) {
  auto document = models::parse_sanitized_json(text, message_depth_max);
  if (!document.ok()) return malformed("it is not JSON");
  if (document->as_array()) return malformed("it is a batch");
  if (!document->as_object()) return malformed("it is not an object");
  if ((*document)["jsonrpc"] != Value("2.0")) return malformed("it has no \"jsonrpc\": \"2.0\"");
  return document->find("method") ? call_of(*document) : reply_of(*document);
}

std::string request_text(const Value& id, std::string_view method, const Value& params) {
  Value::Object members = call_members(method, params);
  members.emplace("id", id);
  return text_of(std::move(members));
}

std::string notification_text(std::string_view method, const Value& params) {
  return text_of(call_members(method, params));
}

std::string result_text(const Value& id, const Value& result) {
  return text_of({{"id", id}, {"result", result}});
}

std::string fault_text(const Value& id, std::int64_t code, std::string_view message) {
  return text_of({{"error", Value::object({{"code", code}, {"message", message}})}, {"id", id}});
}

Value with_progress_token(Value params, std::int64_t id) {
  if (!params.as_object()) params = Value(Value::Object());
  Value& meta = (*params.as_object())["_meta"];
  if (!meta.as_object()) meta = Value(Value::Object());
  meta.as_object()->insert_or_assign("progressToken", Value(id));
  return params;
}

}  // namespace belay::mcp
