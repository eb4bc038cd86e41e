#include "langgraph/v2_socket.h"

#include "langgraph/v2_commands.h"
#include "langgraph/v2_thread_reader.h"

namespace belay::langgraph {
namespace {

using server::Call;
using server::WebSocket;
using server::WebSocketCode;

// Bytes that may wait for the client when another event is sent.
constexpr std::size_t kWaitingBytesMax = 1024 * 1024;
// Clients subscribe in several messages after the start of a run, and ignore older events once they
// have received its end: it is sent only after this time without a further subscription.
constexpr std::chrono::milliseconds kSubscribesWithin{200};

bool is_end_of_run(const V2Event& event) {
  const Value& what = event.data["event"];
  return event.method == "lifecycle" && event.space.empty() &&
         (what == Value("completed") || what == Value("failed") || what == Value("interrupted"));
}

// The state that commands in progress share with the connection. `socket` is null when it is
// closed.
struct SocketLink {
  WebSocket* socket = nullptr;
  std::size_t commands = 0;  // in progress

  void send(const Value& document) {
    if (socket) socket->send(to_json(document));
  }
};

// Keeps all that it uses: it continues without the connection.
Task<Result<Done>> run_command(AgentServerPointer served, Call call, ThreadId thread, Value command,
                               std::shared_ptr<SocketLink> link) {
  const Value id = std::as_const(command)["id"];
  auto response =
      co_await answer_command(*served, std::move(call), std::move(thread), std::move(command));
  --link->commands;
  link->send(response.ok() ? *response : command_error(id, response.error()));
  co_return Done{};
}

// Reads the events of all subscriptions in their order, and sends them while the client accepts
// them.
class SocketPump {
 public:
  SocketPump(V2ThreadReader reader, std::shared_ptr<SocketLink> link, Clock& clock)
      : reader_(std::move(reader)),
        link_(std::move(link)),
        clock_(clock),
        holds_ends_until_(clock.now() + kSubscribesWithin) {}
  SocketPump(const SocketPump&) = delete;
  SocketPump& operator=(const SocketPump&) = delete;

  void start(Executor& executor) {
    std::function<void(Result<Done>)> done = [link = link_](Result<Done> ended) {
      if (ended.ok() || !link->socket) return;
      link->socket->close(WebSocketCode::internal, ended.error().message);
    };
    running_ = spawn<Result<Done>>(executor, pump(), std::move(done));
  }
  void on_room() { room_.complete(Done{}); }

 private:
  Task<Result<Done>> pump() {
    while (true) {
      BELAY_CO_TRY(V2EventList events, co_await reader_.next());
      for (const V2Event& event : events) {
        Instant::duration held = holds_ends_until_ - clock_.now();
        if (is_end_of_run(event) && held.count() > 0) co_await sleep_for(held);
        std::string text = to_json(v2_document(event));
        while (!fits(text.size())) {
          room_ = Completion<Done>();
          co_await room_;
        }
        if (link_->socket) link_->socket->send(std::move(text));
      }
    }
  }
  bool fits(std::size_t bytes) const {
    std::size_t waiting = link_->socket ? link_->socket->unsent_bytes() : 0;
    return waiting == 0 || waiting + bytes <= kWaitingBytesMax;
  }

  V2ThreadReader reader_;
  const std::shared_ptr<SocketLink> link_;
  Clock& clock_;
  const Instant holds_ends_until_;
  Completion<Done> room_;
  Spawned running_;  // last member: it uses all members above
};

class V2Socket final : public server::WebSocketSession {
 public:
  V2Socket(AgentServerPointer served, Call call, ThreadId thread)
      : served_(std::move(served)), call_(std::move(call)), thread_(std::move(thread)) {}
  ~V2Socket() override { link_->socket = nullptr; }
  V2Socket(const V2Socket&) = delete;
  V2Socket& operator=(const V2Socket&) = delete;

  void open(WebSocket& socket) override { link_->socket = &socket; }

  void sent() override {
    if (pump_) pump_->on_room();
  }

  void receive(std::string text) override {
    auto command = parse_json(text);
    if (!command.ok()) {
      return link_->send(command_error(Value(), "invalid_argument", command.error().message));
    }
    const std::string* method = std::as_const(*command)["method"].as_string();
    bool is_subscription = method && is_of_subscriptions(*method);
    bool has_id = std::as_const(*command)["id"].as_int().has_value();
    if (is_subscription && has_id) return link_->send(answer_subscription(*command, *method));
    if (link_->commands >= kSocketCommandsMax) {
      return link_->send(command_error(has_id ? std::as_const(*command)["id"] : Value(),
                                       "unknown_error", "Too many commands are in progress."));
    }
    ++link_->commands;
    auto task = run_command(served_, call_, thread_, *std::move(command), link_);
    (void)served_->world.waiting.begin<Result<Done>>(std::move(task));
  }

 private:
  Value answer_subscription(const Value& command, const std::string& method) {
    const Value& params = command["params"];
    auto result = subscription_result(params, method);
    if (result.ok()) return command_success(command["id"], thread_, *std::move(result));
    bool is_unknown = result.error().code == ErrorCode::not_found;
    if (!is_unknown) return command_error(command["id"], result.error());
    return command_error(command["id"], "no_such_subscription", result.error().message);
  }

  Result<Value> subscription_result(const Value& params, const std::string& method) {
    if (method == "subscription.subscribe") return subscribe(params);
    if (method == "subscription.reconnect") return Value::object({{"restored", false}});
    const std::string* id = params["subscription_id"].as_string();
    if (!id || wanted_.erase(*id) == 0) {
      return error(ErrorCode::not_found, "The connection has no such subscription.");
    }
    pump_all();
    return Value(Value::Object{});
  }

  Result<Value> subscribe(const Value& params) {
    if (wanted_.size() >= kSocketSubscriptionsMax) {
      return error(ErrorCode::invalid, "The connection has too many subscriptions.");
    }
    BELAY_TRY(V2Subscription wanted, v2_subscription_of(params));
    std::string id = "subscription-" + std::to_string(++last_id_);
    wanted_.emplace(id, std::move(wanted));
    pump_all();
    return Value::object({{"subscription_id", std::move(id)}, {"replayed_events", 0}});
  }

  // Sends the events of all subscriptions, again from the first: clients recognise those that they
  // have.
  void pump_all() {
    pump_.reset();
    if (wanted_.empty()) return;
    std::vector<V2Subscription> wanted;
    for (const auto& [id, each] : wanted_) wanted.push_back(each);
    V2ThreadReader reader(*served_, call_.service, call_.who, thread_, std::move(wanted));
    pump_ = std::make_unique<SocketPump>(std::move(reader), link_, served_->world.parts.clock);
    pump_->start(served_->world.parts.executor);
  }

  const AgentServerPointer served_;
  const Call call_;
  const ThreadId thread_;
  const std::shared_ptr<SocketLink> link_ = std::make_shared<SocketLink>();
  std::uint64_t last_id_ = 0;
  std::map<std::string, V2Subscription> wanted_;  // by the id of the subscription
  std::unique_ptr<SocketPump> pump_;              // null: no subscription
};

}  // namespace

std::unique_ptr<server::WebSocketSession> v2_socket(AgentServerPointer served, Call call,
                                                    ThreadId thread) {
  return std::make_unique<V2Socket>(std::move(served), std::move(call), std::move(thread));
}

}  // namespace belay::langgraph
