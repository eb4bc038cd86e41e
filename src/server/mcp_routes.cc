// The route of MCP: one message for each request (docs/mcp.md, "Belay as a server").

#include "http/ascii.h"
#include "server/body.h"
#include "server/heartbeat.h"
#include "server/mcp_endpoint.h"
#include "server/problem.h"
#include "tools/base64.h"

namespace belay::server {
namespace {

constexpr int kNotAcceptable = 406;
constexpr int kUnsupportedType = 415;

// True if a list of media types ("application/json, text/event-stream;q=0.5") contains the type or
// `range`, the range of types that it belongs to.
bool accepts(std::string_view accepted, std::string_view wanted, std::string_view range) {
  while (!accepted.empty()) {
    std::size_t end = std::min(accepted.find(','), accepted.size());
    std::string_view type = accepted.substr(0, end);
    accepted.remove_prefix(std::min(end + 1, accepted.size()));
    type = http::trimmed(type.substr(0, type.find(';')));
    if (type == wanted || type == range || type == "*/*") return true;
  }
  return false;
}

bool accepts_json(std::string_view accepted) {
  return http::trimmed(accepted).empty() || accepts(accepted, "application/json", "application/*");
}

// The messages of a reply as server-sent events.
class McpEvents final : public http::BodyStream {
 public:
  explicit McpEvents(std::unique_ptr<McpStream> messages) : messages_(std::move(messages)) {}

  Task<Result<std::string>> next() override {
    auto message = co_await messages_->next();
    std::string text;
    if (message) {
      text = "event: message\ndata: ";
      write_json(*message, text);
      text += "\n\n";
    }
    co_return std::move(text);
  }

 private:
  const std::unique_ptr<McpStream> messages_;
};

Reply reply_of_mcp(McpReply answer) {
  Reply reply;
  reply.status = answer.status;
  if (answer.document) {
    reply.document = *std::move(answer.document);
  } else {
    reply.text = "";
  }
  return reply;
}

Reply refused(int status, std::string detail) {
  Reply reply;
  take_problem(problem(status, "http", std::move(detail)), reply);
  return reply;
}

// Reads a message: a fault is an error of JSON-RPC, not a problem document.
std::optional<Reply> read_message(Call& call) {
  if (!accepts_json(call.request.header("Accept"))) {
    return refused(kNotAcceptable, "The responses are application/json: Accept excludes it.");
  }
  if (!is_json_type(call.request.header("Content-Type"))) {
    return refused(kUnsupportedType, "The body must be application/json.");
  }
  auto document = parse_json(call.request.body);
  std::string().swap(call.request.body);
  if (!document.ok()) {
    return reply_of_mcp(mcp_malformed(McpFault::malformed, document.error().message));
  }
  call.body = *std::move(document);
  return std::nullopt;
}

// A call with a requestState continues a run.
bool starts_a_run(const Call& call) {
  return call.body["method"] == Value("tools/call") && !call.body["params"].find("requestState");
}

// The key is a member of the message, or a header.
Task<bool> finds_tool_call(const Call& call) {
  const Value& params = call.body["params"];
  const std::string* agent = params["name"].as_string();
  const std::string* thread = params["_meta"][kMcpThread].as_string();
  const std::string* key = params["_meta"][kMcpIdempotencyKey].as_string();
  StartNames names;
  if (agent) names.agent = *agent;
  if (thread) names.thread = ThreadId(*thread);
  names.user = call.who.user;
  names.key = key ? std::string_view(*key) : call.request.header("Idempotency-Key");
  return finds_run_of(call, std::move(names));
}

// True if a header has this value, or its base64 form.
bool is_same(std::string_view header, std::string_view value) {
  if (header == value) return true;
  return header == "=?base64?" + tools::base64(value) + "?=";
}

// Returns the member of the params that Mcp-Name repeats; empty: none.
std::string_view named_member(std::string_view method) {
  if (method == "tools/call") return "name";
  bool is_of_task = method == "tasks/get" || method == "tasks/update" || method == "tasks/cancel";
  return is_of_task ? "taskId" : "";
}

// Checks the headers that repeat parts of the message, in the modern era.
std::optional<McpReply> check_headers(const http::Request& request, const McpMessage& message) {
  auto differs = [&message](std::string_view text) {
    return mcp_fault(message, McpFault::header_mismatch, text);
  };
  if (request.header("MCP-Protocol-Version").empty()) {
    return differs("The header MCP-Protocol-Version is missing.");
  }
  if (request.header("Mcp-Method") != message.method) {
    return differs("The header Mcp-Method is missing, or differs from the method.");
  }
  std::string_view member = named_member(message.method);
  const std::string* name = member.empty() ? nullptr : message.params[member].as_string();
  if (name && !is_same(request.header("Mcp-Name"), *name)) {
    return differs("The header Mcp-Name is missing, or differs from params." + std::string(member) +
                   ".");
  }
  return std::nullopt;
}

Task<Result<Reply>> answer_message(ApiContext& world, std::shared_ptr<McpEndpoint> endpoint,
                                   Call call) {
  McpMessage message;
  Value document = std::move(call.body);
  std::string version(call.request.header("MCP-Protocol-Version"));
  auto fault = read_mcp_message(std::move(document), version, message);
  if (!fault && message.is_modern && !message.is_notification) {
    fault = check_headers(call.request, message);
  }
  if (fault) co_return reply_of_mcp(*std::move(fault));
  message.takes_stream = accepts(call.request.header("Accept"), "text/event-stream", "text/*");
  if (!message.takes_stream && message.method == "subscriptions/listen") {
    co_return refused(kNotAcceptable, "The reply is text/event-stream: Accept excludes it.");
  }
  McpReply answer = co_await endpoint->answer(std::move(call), std::move(message));
  if (!answer.stream) co_return reply_of_mcp(std::move(answer));
  Reply reply;
  reply.headers = event_stream_headers();
  auto events = std::make_unique<McpEvents>(std::move(answer.stream));
  reply.stream = std::make_unique<HeartbeatStream>(world.parts.executor, std::move(events),
                                                   world.options.heartbeat);
  co_return std::move(reply);
}

Value message_schema() {
  Value text = Value::object({{"type", "string"}});
  Value::Object properties{{"id", Value(Value::Object())},
                           {"jsonrpc", Value::object({{"const", "2.0"}})},
                           {"method", std::move(text)},
                           {"params", Value::object({{"type", "object"}})}};
  Value::Array required{"jsonrpc"};
  return Value::object({{"type", "object"},
                        {"properties", Value(std::move(properties))},
                        {"required", std::move(required)}});
}

}  // namespace

std::vector<Route> mcp_routes(ApiContext& world) {
  Route route = route_of("POST", "/mcp", "callMcp",
                         "A message of the Model Context Protocol: agents as tools, runs as tasks");
  route.body = message_schema();
  route.answers = {{200, "The response to a request", ""},
                   {200, "Notifications and the response", "", "text/event-stream"},
                   {202, "A notification was accepted", "", "text/plain"}};
  route.read = read_message;
  route.begins_run_by = starts_a_run;
  route.finds_run = finds_tool_call;
  auto endpoint = std::make_shared<McpEndpoint>(world);
  route.handle = [&world, endpoint](Call call) {
    return answer_message(world, endpoint, std::move(call));
  };
  std::vector<Route> routes;
  routes.push_back(std::move(route));
  return routes;
}

}  // namespace belay::server
