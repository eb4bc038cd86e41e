// Replies of MCP that are streams: the progress of calls, and subscriptions to tasks.

#include <gmock/gmock.h>

#include "tests/support/mcp_fixture.h"

namespace belay::server {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr const char* kAcknowledged = "notifications/subscriptions/acknowledged";

struct McpStreams : McpFixture {
  static std::string call_with(const std::string& topic, const std::string& given) {
    return R"({"name":"mail","arguments":{"topic":")" + topic + R"("},"_meta":{"progressToken":)" +
           given + "}}";
  }
  static std::string ids(const std::vector<std::string>& tasks) {
    Value::Array all;
    for (const std::string& task : tasks) all.emplace_back(task);
    return R"({"notifications":{"taskIds":)" + to_json(Value(std::move(all))) + "}}";
  }
  Answered listen(const std::vector<std::string>& tasks) {
    return modern("subscriptions/listen", ids(tasks), with_tasks());
  }
  // Returns the next message; null: the stream has ended.
  Value next_of(const Answered& answered) {
    std::string piece = block_on(loop, answered.stream->next()).value();
    while (piece.starts_with(":")) piece = block_on(loop, answered.stream->next()).value();
    if (piece.empty()) return Value();
    EXPECT_TRUE(piece.starts_with("event: message\ndata: ") && piece.ends_with("\n\n")) << piece;
    return parse_json(piece.substr(21)).value_or(Value());
  }
  std::vector<Value> all_of(const Answered& answered) {
    std::vector<Value> all;
    for (Value each = next_of(answered); !each.is_null(); each = next_of(answered)) {
      all.push_back(std::move(each));
    }
    return all;
  }
  void decide_task(const std::string& id) {
    Value waits = result_of(task("tasks/get", id));
    ASSERT_TRUE(waits["inputRequests"].as_object()) << to_json(waits);
    std::string name = waits["inputRequests"].as_object()->begin()->first;
    result_of(task(
        "tasks/update", id,
        R"(,"inputResponses":{")" + name + R"(":{"action":"accept","content":{"confirm":true}}})"));
  }
};

TEST_F(McpStreams, ACallWithATokenReportsTheStepsOfItsRun) {
  model.takes(10s);
  for (const char* given : {"\"t\"", "7", "1.5"}) {
    Answered answered = modern("tools/call", call_with("calm", given), Value(Value::Object()));
    ASSERT_TRUE(answered.stream) << given;
    EXPECT_EQ(answered.header("Content-Type"), "text/event-stream");
    std::vector<Value> all = all_of(answered);
    ASSERT_GE(all.size(), 2u);
    std::int64_t last = 0;
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      EXPECT_EQ(text(all[i]["method"]), "notifications/progress");
      EXPECT_EQ(to_json(all[i]["params"]["progressToken"]), given);
      EXPECT_GT(all[i]["params"]["progress"].as_int().value_or(0), last);
      last = all[i]["params"]["progress"].as_int().value_or(0);
    }
    EXPECT_EQ(all.back()["id"], Value(7));
    EXPECT_EQ(text(all.back()["result"]["structuredContent"]["outcome"]), "sent");
  }
  EXPECT_EQ(all_runs().size(), 3u);
}

TEST_F(McpStreams, ACallWithoutProgressHasASimpleReply) {
  Answered short_one = modern("tools/call", call_with("calm", "1"), Value(Value::Object()));
  EXPECT_FALSE(short_one.stream);
  EXPECT_EQ(text(result_of(short_one)["structuredContent"]["outcome"]), "sent");
  Answered unknown =
      modern("tools/call", R"({"name":"nobody","_meta":{"progressToken":1}})", with_tasks());
  EXPECT_FALSE(unknown.stream);
  EXPECT_EQ(fault_of(unknown), -32602);
  model.takes(10s);
  http::Request plain =
      modern_message("tools/call", object(call_with("calm", "1")), Value(Value::Object()));
  for (http::Header& header : plain.headers) {
    if (header.name == "Accept") header.value = "application/json";
  }
  Answered simple = send(std::move(plain));
  EXPECT_FALSE(simple.stream);
  EXPECT_EQ(text(result_of(simple)["structuredContent"]["outcome"]), "sent");
  for (const char* wrong : {"{}", "[]", "true"}) {
    Answered refused = modern("tools/call", call_with("calm", wrong), with_tasks());
    EXPECT_EQ(fault_of(refused), -32602) << wrong;
  }
}

TEST_F(McpStreams, AClientThatLeavesACallWithProgressLeavesTheRun) {
  model.takes(10s);
  {
    http::Request sent =
        modern_message("tools/call", object(call_with("urgent", "1")), Value(Value::Object()));
    Answered left = send(std::move(sent));
    ASSERT_TRUE(left.stream);
  }
  loop.run_until(clock.now() + 1min);
  ASSERT_EQ(all_runs().size(), 1u);
  EXPECT_EQ(all_runs().front().status, RunStatus::paused);
}

TEST_F(McpStreams, ARepeatedCallReportsTheProgressOfItsRun) {
  model.takes(10s);
  std::string call = R"({"name":"mail","arguments":{"topic":"calm"},)"
                     R"("_meta":{"progressToken":1,"belay/idempotencyKey":"k"}})";
  Answered first = modern("tools/call", call, Value(Value::Object()));
  ASSERT_TRUE(first.stream);
  Answered again = modern("tools/call", call, Value(Value::Object()));
  std::vector<Value> all = all_of(first);
  Value result = again.stream ? all_of(again).back()["result"] : result_of(again);
  EXPECT_EQ(to_json(all.back()["result"]["structuredContent"]["runId"]),
            to_json(result["structuredContent"]["runId"]));
  EXPECT_EQ(all_runs().size(), 1u);
}

TEST_F(McpStreams, ASubscriptionReportsEachChangeOfItsTasks) {
  std::string one = started_task("urgent one");
  std::string two = started_task("urgent two");
  Answered open = listen({one, two, one, "nothing"});
  ASSERT_TRUE(open.stream) << to_json(open.body);
  Value first = next_of(open);
  EXPECT_EQ(text(first["method"]), kAcknowledged);
  EXPECT_EQ(to_json(first["params"]["notifications"]),
            R"({"taskIds":[")" + one + R"(",")" + two + "\"]}");
  for (int i = 0; i < 2; ++i) {
    Value state = next_of(open);
    EXPECT_EQ(text(state["method"]), "notifications/tasks");
    EXPECT_EQ(text(state["params"]["status"]), "input_required");
    EXPECT_TRUE(state["params"]["inputRequests"].as_object());
    EXPECT_EQ(state["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], Value(7));
  }
  decide_task(two);
  Value done = next_of(open);
  EXPECT_EQ(text(done["params"]["taskId"]), two);
  EXPECT_EQ(text(done["params"]["status"]), "completed");
  Value read = result_of(task("tasks/get", two));
  EXPECT_EQ(to_json(done["params"]["result"]), to_json(read["result"]));
  result_of(task("tasks/cancel", one));
  EXPECT_EQ(text(next_of(open)["params"]["status"]), "cancelled");
  Value end = next_of(open);
  EXPECT_EQ(end["id"], Value(7));
  EXPECT_EQ(text(end["result"]["resultType"]), "complete");
  EXPECT_EQ(end["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], Value(7));
  EXPECT_TRUE(next_of(open).is_null());
}

TEST_F(McpStreams, ASlowReaderReceivesOnlyTheNewestState) {
  model.takes(10s);
  std::string id = started_task("urgent");
  Answered open = listen({id});
  ASSERT_TRUE(open.stream);
  EXPECT_EQ(text(next_of(open)["method"]), kAcknowledged);
  EXPECT_EQ(text(next_of(open)["params"]["status"]), "working");
  loop.run_until(clock.now() + 1min);
  decide_task(id);
  loop.run_until(clock.now() + 1h);
  EXPECT_EQ(text(next_of(open)["params"]["status"]), "completed");
  EXPECT_TRUE(next_of(open)["result"].as_object());
}

TEST_F(McpStreams, ATaskThatEndsWhileItIsWatchedIsReportedAtOnce) {
  model.takes(10s);
  std::string id = started_task("calm");
  Answered open = listen({id});
  ASSERT_TRUE(open.stream);
  next_of(open);
  EXPECT_EQ(text(next_of(open)["params"]["status"]), "working");
  Instant before = clock.now();
  EXPECT_EQ(text(next_of(open)["params"]["status"]), "completed");
  EXPECT_LE(clock.now() - before, 10s);
}

TEST_F(McpStreams, TasksOfOthersAreNotAcknowledged) {
  add_key("ana", Permission::decide);
  add_key("eve", Permission::decide);
  add_key("runner", Permission::run);
  api = make_api();
  act_as("ana");
  std::string id = started_task("urgent");
  act_as("eve");
  Answered foreign = listen({id});
  std::vector<Value> all = all_of(foreign);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(to_json(all[0]["params"]["notifications"]), R"({"taskIds":[]})");
  EXPECT_TRUE(all[1].find("result"));
  act_as("runner");
  std::string own = started_task("urgent");
  Answered undecided = listen({own});
  next_of(undecided);
  EXPECT_EQ(text(next_of(undecided)["params"]["status"]), "working") << "it may not decide";
}

TEST_F(McpStreams, AFaultySubscriptionIsRefused) {
  auto refused = [this](std::string_view params, Value capabilities) {
    Answered answered = modern("subscriptions/listen", params, std::move(capabilities));
    EXPECT_FALSE(answered.stream) << params;
    return fault_of(answered);
  };
  EXPECT_EQ(refused("{}", with_tasks()), -32602);
  EXPECT_EQ(refused(R"({"notifications":[]})", with_tasks()), -32602);
  EXPECT_EQ(refused(R"({"notifications":{"taskIds":"x"}})", with_tasks()), -32602);
  EXPECT_EQ(refused(R"({"notifications":{"taskIds":[1]}})", with_tasks()), -32602);
  EXPECT_EQ(refused(ids(std::vector<std::string>(101, "x")), with_tasks()), -32602);
  EXPECT_EQ(refused(ids({"x"}), with_elicitation()), -32021);
  EXPECT_EQ(fault_of(legacy("subscriptions/listen", ids({}))), -32601);
  http::Request plain = modern_message("subscriptions/listen", object(ids({})), with_tasks());
  for (http::Header& header : plain.headers) {
    if (header.name == "Accept") header.value = "application/json";
  }
  EXPECT_EQ(send(std::move(plain)).status, 406);
  Answered of_lists = modern("subscriptions/listen",
                             R"({"notifications":{"toolsListChanged":true}})", with_elicitation());
  std::vector<Value> all = all_of(of_lists);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(to_json(all[0]["params"]["notifications"]), "{}");
}

TEST_F(McpStreams, AUserHasALimitedNumberOfSubscriptions) {
  std::string id = started_task("urgent");
  std::vector<Answered> open;
  for (int i = 0; i < 16; ++i) {
    open.push_back(listen({id}));
    ASSERT_TRUE(open.back().stream) << i;
  }
  Answered refused = listen({id});
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(fault_of(refused), -32000);
  open.pop_back();
  EXPECT_TRUE(listen({id}).stream) << "a client that leaves makes room";
}

TEST_F(McpStreams, AnOpenStreamWithoutNewsIsDetectedWhenItCloses) {
  std::string id = started_task("urgent");
  Answered open = listen({id});
  ASSERT_TRUE(open.stream);
  next_of(open);
  next_of(open);
  EXPECT_THAT(block_on(loop, open.stream->next()).value(), HasSubstr(": still here\n\n"));
}

}  // namespace
}  // namespace belay::server
