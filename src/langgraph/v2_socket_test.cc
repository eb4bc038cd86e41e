#include <gtest/gtest.h>

#include <algorithm>

#include "server/web_socket.h"
#include "tests/support/agent_server_run_fixture.h"

namespace belay::langgraph {
namespace {

using server::text;

// Holds what a session sends. With `is_slow`, nothing is passed to the client.
class HeldSocket final : public server::WebSocket {
 public:
  void send(std::string message) override {
    if (is_slow) waiting += message.size();
    documents.push_back(parse_json(message).value());
  }
  void close(server::WebSocketCode closing, std::string) override {
    code = static_cast<int>(closing);
  }
  std::size_t unsent_bytes() const override { return waiting; }

  std::vector<Value> documents;
  std::size_t waiting = 0;
  bool is_slow = false;
  int code = 0;
};

struct V2Sockets : RunFixture {
  HeldSocket socket;
  std::unique_ptr<server::WebSocketSession> session;

  void open() {
    const std::vector<server::Route>& routes = api->routes();
    auto route = std::find_if(routes.begin(), routes.end(), [](const server::Route& each) {
      return each.id == "agentServerOpenThreadSocket";
    });
    ASSERT_NE(route, routes.end());
    Principal who;
    who.user = options.user;
    who.permission = Permission::administer;
    server::Call call{{*service, who, {{"threadId", kThreadA}}, {}, Value()}, {}};
    session = block_on(loop, route->open_web_socket(std::move(call))).value();
    session->open(socket);
  }
  void run(const std::string& method, const std::string& params) {
    session->receive(R"({"id":)" + std::to_string(++last_id) + R"(,"method":")" + method +
                     R"(","params":)" + params + "}");
  }
  // Runs the loop until a message satisfies the condition, and returns it; null: none came.
  Value wait_for(const std::function<bool(const Value&)>& wanted) {
    for (int turns = 0; turns < 400; ++turns) {
      for (const Value& each : socket.documents) {
        if (wanted(each)) return each;
      }
      block_on(loop, pause());
    }
    return Value();
  }
  static Task<Done> pause() {
    co_await sleep_for(std::chrono::milliseconds(20));
    co_return Done{};
  }
  Value response() {
    return wait_for([this](const Value& each) { return each["id"] == Value(last_id); });
  }
  Value lifecycle(const std::string& name) {
    return wait_for([&name](const Value& each) {
      return each["method"] == Value("lifecycle") && each["params"]["data"]["event"] == Value(name);
    });
  }
  std::int64_t last_id = 0;
};

TEST_F(V2Sockets, SendTheEventsOfASubscriptionAndTheResponsesOfCommands) {
  open();
  run("subscription.subscribe", R"({"channels":["lifecycle","values"]})");
  EXPECT_FALSE(text(response()["result"]["subscription_id"]).empty());
  run("run.start", R"({"assistant_id":"mail","input":{"topic":"the outage"}})");
  EXPECT_FALSE(text(response()["result"]["run_id"]).empty());
  EXPECT_FALSE(lifecycle("completed").is_null());
  for (const Value& each : socket.documents) {
    if (each["type"] != Value("event")) continue;
    EXPECT_TRUE(each["method"] == Value("lifecycle") || each["method"] == Value("values"));
  }
}

TEST_F(V2Sockets, ReplyToAnInterrupt) {
  open();
  run("subscription.subscribe", R"({"channels":["lifecycle","input"]})");
  run("run.start", R"({"assistant_id":"mail","input":{"topic":"urgent"}})");
  Value asked =
      wait_for([](const Value& each) { return each["method"] == Value("input.requested"); });
  ASSERT_FALSE(lifecycle("interrupted").is_null());
  run("input.respond", R"({"responses":[{"namespace":[],"interrupt_id":")" +
                           text(asked["params"]["data"]["interrupt_id"]) +
                           R"(","response":{"approved":true}}]})");
  EXPECT_EQ(text(response()["type"]), "success");
  EXPECT_FALSE(lifecycle("completed").is_null());
}

// As useStream does: it ignores the values that arrive after the end of the run.
TEST_F(V2Sockets, SendTheEndOfAShortRunAfterItsValuesToSubscriptionsThatFollowIt) {
  open();
  run("run.start", R"({"assistant_id":"mail","input":{"topic":"the outage"}})");
  EXPECT_EQ(text(response()["type"]), "success");
  for (int i = 0; i < 20; ++i) block_on(loop, pause());
  run("subscription.subscribe", R"({"channels":["lifecycle"]})");
  for (int i = 0; i < 5; ++i) block_on(loop, pause());
  run("subscription.subscribe", R"({"channels":["values"]})");
  ASSERT_FALSE(lifecycle("completed").is_null());
  std::vector<std::string> order;
  for (const Value& each : socket.documents) {
    if (each["type"] != Value("event")) continue;
    bool is_end = each["params"]["data"]["event"] == Value("completed");
    order.push_back(is_end ? "end" : text(each["method"]));
  }
  EXPECT_EQ(std::count(order.begin(), order.end(), "end"), 1);
  EXPECT_EQ(order.back(), "end");
  EXPECT_GE(std::count(order.begin(), order.end(), "values"), 1);
}

TEST_F(V2Sockets, SendNothingAfterAnUnsubscribe) {
  open();
  run("subscription.subscribe", R"({"channels":["lifecycle"]})");
  std::string id = text(response()["result"]["subscription_id"]);
  run("subscription.unsubscribe", R"({"subscription_id":")" + id + R"("})");
  EXPECT_EQ(text(response()["type"]), "success");
  run("subscription.unsubscribe", R"({"subscription_id":")" + id + R"("})");
  EXPECT_EQ(text(response()["error"]), "no_such_subscription");
  run("run.start", R"({"assistant_id":"mail","input":{"topic":"the outage"}})");
  EXPECT_EQ(text(response()["type"]), "success");
  for (int i = 0; i < 20; ++i) block_on(loop, pause());
  for (const Value& each : socket.documents) EXPECT_NE(each["type"], Value("event"));
}

TEST_F(V2Sockets, ForkAtACheckpointAndSendTheEventsOfTheFork) {
  open();
  run("subscription.subscribe", R"({"channels":["lifecycle","checkpoints"]})");
  run("run.start", R"({"assistant_id":"poet","input":{"topic":"urgent"}})");
  ASSERT_FALSE(lifecycle("interrupted").is_null());
  run("state.listCheckpoints", "{}");
  std::string id = text(response()["result"]["checkpoints"].as_array()->front()["id"]);
  run("state.fork", R"({"checkpoint_id":"1ef00000-0000-6000-8000-000000000000"})");
  EXPECT_EQ(text(response()["error"]), "no_such_checkpoint");
  run("state.fork", R"({"checkpoint_id":")" + id + R"(","input":{"topic":"calm"}})");
  Value forked = response();
  EXPECT_EQ(text(forked["result"]["thread_id"]), kThreadA) << to_json(forked);
  EXPECT_FALSE(text(forked["result"]["run_id"]).empty());
  EXPECT_FALSE(lifecycle("completed").is_null());
}

TEST_F(V2Sockets, AnswerFaultyMessagesAndStayOpen) {
  open();
  session->receive("{");
  session->receive("[1]");
  session->receive(R"({"id":"text","method":"state.get"})");
  run("subscription.subscribe", R"({"channels":["nothing"]})");
  EXPECT_EQ(text(response()["error"]), "invalid_argument");
  for (int i = 0; i < 5; ++i) block_on(loop, pause());
  ASSERT_EQ(socket.documents.size(), 4u);
  for (const Value& each : socket.documents) {
    EXPECT_EQ(text(each["error"]), "invalid_argument") << to_json(each);
  }
  EXPECT_EQ(socket.code, 0);
}

TEST_F(V2Sockets, DoNotKnowOtherMethodsOfSubscriptions) {
  open();
  run("subscription.foo", "{}");
  EXPECT_EQ(text(response()["error"]), "unknown_command");
  run("subscription.reconnect", "{}");
  EXPECT_EQ(text(response()["type"]), "success");
}

TEST_F(V2Sockets, LimitTheCommandsInProgress) {
  open();
  for (int i = 0; i < 30; ++i) run("state.get", "{}");
  for (int i = 0; i < 20; ++i) block_on(loop, pause());
  auto is_refused = [](const Value& each) { return each["error"] == Value("unknown_error"); };
  auto refused = std::count_if(socket.documents.begin(), socket.documents.end(), is_refused);
  EXPECT_EQ(socket.documents.size(), 30u);
  EXPECT_LE(refused, 14);
}

TEST_F(V2Sockets, FinishACommandWhenTheConnectionHasClosed) {
  open();
  run("run.start", R"({"assistant_id":"mail","input":{"topic":"the outage"}})");
  session.reset();
  for (int i = 0; i < 50; ++i) block_on(loop, pause());
  auto state = call("GET", std::string("/threads/") + kThreadA + "/state");
  EXPECT_EQ(text(state.body["values"]["topic"]), "the outage") << to_json(state.body);
}

}  // namespace
}  // namespace belay::langgraph
