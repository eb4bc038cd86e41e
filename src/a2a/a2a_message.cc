#include "a2a/a2a_message.h"

#include "server/body.h"
#include "server/mcp_message.h"
#include "server/problem.h"
#include "server/routes.h"

namespace belay::a2a {
namespace {

using server::Reply;

constexpr int kBadRequest = 400;
constexpr int kForbidden = 403;
constexpr int kUnsupportedType = 415;
constexpr std::size_t kMessageIdBytesMax = 256;
constexpr std::size_t kPartsMax = 100;
constexpr std::string_view kInterruptKey = "belay/interrupt";

// The name of an error of A2A, in its form for machines; empty for those of JSON-RPC.
std::string_view reason_of_fault(Fault code) {
  switch (code) {
    case Fault::unknown_task:
      return "TASK_NOT_FOUND";
    case Fault::not_cancelable:
      return "TASK_NOT_CANCELABLE";
    case Fault::no_push_notifications:
      return "PUSH_NOTIFICATION_NOT_SUPPORTED";
    case Fault::unsupported:
      return "UNSUPPORTED_OPERATION";
    case Fault::content_type:
      return "CONTENT_TYPE_NOT_SUPPORTED";
    case Fault::version:
      return "VERSION_NOT_SUPPORTED";
    default:
      return "";
  }
}

int status_of_fault(Fault code) {
  if (code == Fault::refused) return kForbidden;
  return code == Fault::malformed || code == Fault::invalid_request ? kBadRequest : 200;
}

std::optional<Failure> unfit(std::string text) {
  return Failure{Fault::invalid_params, std::move(text)};
}

// True for "1.0", and for its patches, which are not negotiated: "1.0.1".
bool is_supported(std::string_view version) {
  if (!version.starts_with(kProtocolVersion)) return false;
  version.remove_prefix(kProtocolVersion.size());
  return version.empty() || version.front() == '.';
}

std::optional<Failure> read_part(const Value& part, SentMessage& message) {
  int contents = 0;
  for (const char* name : {"text", "raw", "url", "data"}) contents += part.find(name) ? 1 : 0;
  if (contents != 1) {
    return unfit("A part must have exactly one of the members text, data, raw and url.");
  }
  if (const Value* text = part.find("text")) {
    if (!text->as_string()) return unfit("The text of a part must be a string.");
    if (message.has_text) message.text += "\n";
    message.text += *text->as_string();
    message.has_text = true;
    return std::nullopt;
  }
  const Value* data = part.find("data");
  if (!data) return Failure{Fault::content_type, "Files are not supported: send text or data."};
  if (message.data) return unfit("A message can have one part that is data.");
  message.data = *data;
  return std::nullopt;
}

std::optional<Failure> read_parts(const Value& sent, SentMessage& message) {
  const Value::Array* parts = sent["parts"].as_array();
  if (!parts || parts->empty() || parts->size() > kPartsMax) {
    return unfit("The parts of a message must be a list of 1 to 100 parts.");
  }
  for (const Value& part : *parts) {
    if (auto failure = read_part(part, message)) return failure;
  }
  if (message.has_text && message.data) {
    return unfit("A message must have either texts or data: each of them is the whole input.");
  }
  return std::nullopt;
}

std::optional<Failure> read_message(const Value& sent, SentMessage& message) {
  if (!sent.as_object()) return unfit("The params have no message.");
  if (auto failure = read_text(sent, "messageId", message.id)) return failure;
  if (message.id.empty() || message.id.size() > kMessageIdBytesMax) {
    return unfit("The messageId must be a text of 1 to 256 bytes.");
  }
  if (sent["role"] != Value("ROLE_USER")) return unfit("The role must be ROLE_USER.");
  if (auto failure = read_text(sent, "contextId", message.context)) return failure;
  if (auto failure = read_text(sent, "taskId", message.task)) return failure;
  if (auto failure = read_text(sent["metadata"], kInterruptKey, message.interrupt)) return failure;
  return read_parts(sent, message);
}

}  // namespace

Failure failure_of(const Error& failed) {
  switch (failed.code) {
    case ErrorCode::invalid:
    case ErrorCode::conflict:
      return {Fault::invalid_params, failed.message};
    case ErrorCode::not_found:
      return unknown_task();
    case ErrorCode::forbidden:
      return {Fault::refused, failed.message};
    default:
      return {Fault::internal, failed.message, server::status_of(failed)};
  }
}

Failure unknown_task() { return {Fault::unknown_task, "Unknown task."}; }

Failure no_notifications() {
  return {Fault::no_push_notifications, "This server sends no push notifications."};
}

Failure lacks(Permission needed) {
  return {Fault::refused,
          "This API key lacks the permission " + std::string(name_of(needed)) + "."};
}

std::optional<Reply> read_body(server::Call& call) {
  if (!server::is_json_type(call.request.header("Content-Type"))) {
    Reply reply;
    std::string detail = "A request of A2A is application/json.";
    server::take_problem(server::problem(kUnsupportedType, "http", std::move(detail)), reply);
    return reply;
  }
  auto document = parse_json(call.request.body);
  if (!document.ok()) return fault_reply(Value(), {Fault::malformed, document.error().message});
  call.request.body = std::string();  // frees its memory while the run is awaited
  call.body = *std::move(document);
  return std::nullopt;
}

std::optional<Reply> read_request(Value document, std::string_view version, A2aRequest& request) {
  server::McpMessage message;
  // The envelope is that of any protocol over JSON-RPC.
  auto faulty = server::read_mcp_message(std::move(document), "", message);
  if (faulty) {
    Reply reply;
    reply.status = faulty->status;
    reply.document = *std::move(faulty->document);
    return reply;
  }
  if (message.is_notification) {
    return fault_reply(Value(), {Fault::invalid_request, "A request of A2A must have an id."});
  }
  request.id = std::move(message.id);
  request.method = std::move(message.method);
  request.params = std::move(message.params);
  if (is_supported(version)) return std::nullopt;
  std::string text = version.empty() ? "The header A2A-Version is missing, which requests 0.3."
                                     : "This version of A2A is not supported.";
  return fault_reply(request.id, {Fault::version, text + " This server supports 1.0."});
}

Value response_of(const Value& id, Value result) {
  return Value::object({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
}

Reply result_reply(const Value& id, Value result) {
  return server::reply_with(response_of(id, std::move(result)));
}

Reply fault_reply(const Value& id, const Failure& failure) {
  Value::Object fault{{"code", static_cast<std::int64_t>(failure.code)}, {"message", failure.text}};
  if (std::string_view reason = reason_of_fault(failure.code); !reason.empty()) {
    Value info = Value::object({{"@type", "type.googleapis.com/google.rpc.ErrorInfo"},
                                {"domain", "a2a-protocol.org"},
                                {"reason", reason}});
    fault.emplace("data", Value::Array{std::move(info)});
  }
  Reply reply = server::reply_with(
      Value::object({{"jsonrpc", "2.0"}, {"id", id}, {"error", Value(std::move(fault))}}));
  reply.status = failure.status != 0 ? failure.status : status_of_fault(failure.code);
  return reply;
}

std::optional<Failure> read_text(const Value& object, std::string_view name, std::string& text) {
  const Value& member = object[name];
  if (member.is_null()) return std::nullopt;
  if (!member.as_string()) return unfit("\"" + std::string(name) + "\" must be a text.");
  text = *member.as_string();
  return std::nullopt;
}

std::optional<Failure> required_text(const Value& object, std::string_view name,
                                     std::string& text) {
  if (auto failure = read_text(object, name, text)) return failure;
  if (text.empty()) return unfit("\"" + std::string(name) + "\" is missing.");
  return std::nullopt;
}

std::optional<Failure> read_history_length(const Value& params,
                                           std::optional<std::size_t>& length) {
  const Value& member = params["historyLength"];
  if (member.is_null()) return std::nullopt;
  auto number = member.as_int();
  if (!number || *number < 0) return unfit("\"historyLength\" must be a number from 0.");
  length = static_cast<std::size_t>(*number);
  return std::nullopt;
}

std::optional<Failure> read_sent(const Value& params, SentMessage& message) {
  const Value& wanted = params["configuration"];
  if (!wanted.is_null() && !wanted.as_object()) return unfit("The configuration is not an object.");
  message.push = wanted["taskPushNotificationConfig"];
  const Value& immediately = wanted["returnImmediately"];
  if (!immediately.is_null() && !immediately.as_bool()) {
    return unfit("\"returnImmediately\" must be true or false.");
  }
  message.returns_immediately = immediately == Value(true);
  if (auto failure = read_history_length(wanted, message.history_length)) return failure;
  return read_message(params["message"], message);
}

}  // namespace belay::a2a
