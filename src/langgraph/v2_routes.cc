#include "langgraph/v2_routes.h"

#include "langgraph/errors.h"
#include "langgraph/v2_commands.h"
#include "langgraph/v2_socket.h"
#include "langgraph/v2_thread_reader.h"
#include "server/heartbeat.h"

namespace belay::langgraph {
namespace {

using server::Call;
using server::Reply;
using server::Route;

constexpr std::size_t kEventTextBytes = 16 * 1024;  // of one piece, unless one event is larger

class V2EventStream final : public http::BodyStream {
 public:
  explicit V2EventStream(V2ThreadReader reader) : reader_(std::move(reader)) {}

  Task<Result<std::string>> next() override {
    if (sent_ == read_.size()) {
      sent_ = 0;
      BELAY_CO_TRY(read_, co_await reader_.next());
    }
    std::string text;
    while (sent_ < read_.size() && text.size() < kEventTextBytes) {
      V2Event event = std::move(read_[sent_++]);
      text += v2_sse_text(event);
    }
    co_return std::move(text);
  }

 private:
  V2ThreadReader reader_;
  V2EventList read_;
  std::size_t sent_ = 0;
};

ThreadId thread_of_path(const Call& call) { return ThreadId(call.path.at("threadId")); }

Task<Result<Reply>> take_command(AgentServer& served, Call call) {
  ThreadId thread = thread_of_path(call);
  Value command = std::move(call.body);
  call.body = Value();
  BELAY_CO_TRY(Value response, co_await answer_command(served, std::move(call), std::move(thread),
                                                       std::move(command)));
  co_return server::reply_with(std::move(response));
}

Task<Result<Reply>> stream_thread_events(AgentServer& served, Call call) {
  BELAY_CO_TRY(V2Subscription wanted, v2_subscription_of(call.body));
  std::vector<V2Subscription> all;
  all.push_back(std::move(wanted));
  V2ThreadReader reader(served, call.service, call.who, thread_of_path(call), std::move(all));
  Reply reply;
  reply.headers = server::event_stream_headers();
  reply.stream = std::make_unique<server::HeartbeatStream>(
      served.world.parts.executor, std::make_unique<V2EventStream>(std::move(reader)),
      served.world.options.heartbeat);
  co_return std::move(reply);
}

Task<Result<std::unique_ptr<server::WebSocketSession>>> open_socket(AgentServerPointer served,
                                                                    Call call) {
  ThreadId thread = thread_of_path(call);
  co_return v2_socket(std::move(served), std::move(call), std::move(thread));
}

Value text_list_schema() {
  return Value::object({{"type", "array"}, {"items", Value::object({{"type", "string"}})}});
}

Route command_route(const AgentServerPointer& served) {
  Route route = protocol_route("POST", "/threads/{threadId}/commands", "agentServerRunCommand",
                               "One command of the streaming protocol");
  accept_body(route,
              Value::object({{"id", Value::object({{"type", "integer"}})},
                             {"method", Value::object({{"type", "string"}})},
                             {"params", Value::object({{"type", "object"}})}}),
              {"id", "method"});
  route.answers = {{200, "The response, a success or an error", "", "application/json"}};
  route.counts_starts = true;
  route.handle = answering(served, take_command);
  return route;
}

Route event_stream_route(const AgentServerPointer& served) {
  Route route =
      protocol_route("POST", "/threads/{threadId}/stream/events", "agentServerStreamThreadEvents",
                     "Events of a thread's runs, of the streaming protocol");
  accept_body(route,
              Value::object({{"channels", text_list_schema()},
                             {"namespaces", Value::object({{"type", "array"}})},
                             {"depth", Value::object({{"type", "integer"}})},
                             {"since", Value::object({{"type", "integer"}})}}),
              {"channels"});
  route.answers = {{200, "Events, until the client disconnects", "", "text/event-stream"}};
  route.handle = answering(served, stream_thread_events);
  return route;
}

Route socket_route(const AgentServerPointer& served) {
  Route route =
      protocol_route("GET", "/threads/{threadId}/stream/events", "agentServerOpenThreadSocket",
                     "A WebSocket for the commands and events of a thread");
  route.answers = {{101, "The WebSocket is open", "", "application/json"}};
  route.open_web_socket = [served](Call call) { return open_socket(served, std::move(call)); };
  return route;
}

}  // namespace

std::vector<Route> v2_routes(const AgentServerPointer& served) {
  std::vector<Route> routes;
  routes.push_back(command_route(served));
  routes.push_back(event_stream_route(served));
  routes.push_back(socket_route(served));
  return routes;
}

}  // namespace belay::langgraph
