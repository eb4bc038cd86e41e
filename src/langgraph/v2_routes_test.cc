#include <gtest/gtest.h>

#include <algorithm>

#include "langgraph/v2_events.h"
#include "tests/support/agent_server_v2_fixture.h"

namespace belay::langgraph {
namespace {

using server::text;

TEST_F(V2Streams, SendARunThatWasStartedAfterTheyWereOpened) {
  auto stream = open(kUsual);
  Value started = begin("rain");
  EXPECT_EQ(text(started["type"]), "success");
  EXPECT_FALSE(text(started["result"]["run_id"]).empty());
  EXPECT_EQ(text(started["meta"]["thread_id"]), kThreadA);
  auto events = read_until(*stream, "completed");
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(text(data_of(events.front())["event"]), "running");
  EXPECT_EQ(text(data_of(events.front())["graph_name"]), "poet");
  Events values = named(events, "values"), checkpoints = named(events, "checkpoints");
  ASSERT_TRUE(!values.empty() && !checkpoints.empty());
  EXPECT_LT(seq_of(checkpoints.front()), seq_of(values.front()));
  EXPECT_FALSE(text(data_of(checkpoints.front())["id"]).empty());
  EXPECT_EQ(text(data_of(values.back())["verse"]), "An öde to rain");
}

TEST_F(V2Streams, SendATextInPartsOfOneMessage) {
  auto stream = open(R"({"channels":["messages","lifecycle"]})");
  begin("rain");
  auto events = named(read_until(*stream, "completed"), "messages");
  ASSERT_GE(events.size(), 5u);
  std::string whole;
  for (const Event& each : events) {
    EXPECT_EQ(text(each.data["params"]["node"]), "write");
    const Value& delta = data_of(each)["delta"];
    if (!delta.is_null()) whole += text(delta["text"]);
  }
  EXPECT_EQ(whole, "An öde to rain");
  EXPECT_EQ(text(data_of(events.front())["event"]), "message-start");
  EXPECT_EQ(text(data_of(events[1])["event"]), "content-block-start");
  EXPECT_EQ(text(data_of(events[events.size() - 2])["content"]["text"]), whole);
  EXPECT_EQ(text(data_of(events.back())["event"]), "message-finish");
}

TEST_F(V2Streams, EndTheMessageOfAnAttemptThatFails) {
  auto stream = open(R"({"channels":["messages","lifecycle"]})");
  begin("luck");
  auto events = named(read_until(*stream, "completed"), "messages");
  std::vector<std::string> started;
  std::string whole;
  for (const Event& each : events) {
    const Value& data = data_of(each);
    if (data["event"] == Value("message-start")) started.push_back(text(data["id"]));
    if (data["event"] == Value("content-block-finish")) whole = text(data["content"]["text"]);
  }
  ASSERT_EQ(started.size(), 2u) << lines_of(events);
  EXPECT_NE(started[0], started[1]);
  EXPECT_EQ(whole, "An öde to luck");
  std::set<std::string> ids;
  for (const Event& each : events) EXPECT_TRUE(ids.insert(each.id).second) << each.id;
}

TEST_F(V2Streams, NumberEventsOverAllRunsOfTheThread) {
  auto stream = open(std::string(kDurable) + "}");
  begin("one");
  auto events = read_until(*stream, "completed");
  begin("two");
  auto later = read_until(*stream, "completed");
  events.insert(events.end(), later.begin(), later.end());
  std::set<std::string> ids;
  std::int64_t before = 0;
  for (const Event& each : events) {
    EXPECT_GT(seq_of(each), before) << to_json(each.data);
    before = seq_of(each);
    EXPECT_TRUE(ids.insert(each.id).second) << each.id;
    EXPECT_EQ(text(each.data["event_id"]), each.id);
    EXPECT_EQ(text(each.data["method"]), each.name);
  }
}

TEST_F(V2Streams, ContinueAfterTheEventThatTheClientHas) {
  auto stream = open(std::string(kDurable) + "}");
  begin("one");
  auto all = read_until(*stream, "completed");
  begin("two");
  auto later = read_until(*stream, "completed");
  all.insert(all.end(), later.begin(), later.end());
  for (std::size_t received = 0; received + 1 < all.size(); ++received) {
    auto again =
        open(std::string(kDurable) + ",\"since\":" + std::to_string(seq_of(all[received])) + "}");
    Events rest;
    while (rest.size() < all.size() - received - 1) {
      auto some = read_until(*again, "completed");
      rest.insert(rest.end(), some.begin(), some.end());
    }
    Events expected(all.begin() + static_cast<std::ptrdiff_t>(received) + 1, all.end());
    EXPECT_EQ(lines_of(rest), lines_of(expected)) << "after " << received;
  }
}

TEST_F(V2Streams, BeginWithARunThatEndedAMomentAgoButNotWithAnOldOne) {
  auto stream = open(kUsual);
  begin("rain");
  auto events = read_until(*stream, "completed");
  auto soon = open(kUsual);
  EXPECT_FALSE(named(read_until(*soon, "completed"), "values").empty());
  clock.move(std::chrono::minutes(10));
  auto later = open(kUsual);
  for (int pieces = 0; pieces < 3; ++pieces) {
    EXPECT_TRUE(block_on(loop, later->next()).value().starts_with(':'));
  }
}

TEST_F(V2Streams, RequestInputAndContinueWithTheReply) {
  auto stream = open(kUsual);
  begin("urgent");
  auto events = read_until(*stream, "interrupted");
  Value asked = first(events, "input.requested");
  std::string id = text(asked["interrupt_id"]);
  EXPECT_EQ(id.size(), 32u) << lines_of(events);
  EXPECT_FALSE(asked["payload"].is_null());
  Value replied = command("input.respond",
                          R"({"namespace":[],"interrupt_id":")" + id + R"(","response":true})");
  EXPECT_EQ(to_json(replied["result"]), "{}") << to_json(replied);
  auto rest = read_until(*stream, "completed");
  EXPECT_EQ(text(data_of(rest.front())["event"]), "running");
  Value answered = first(rest, "input.answered");
  ASSERT_EQ(size_of(answered["interrupt_ids"]), 1u) << lines_of(rest);
  EXPECT_EQ(text(item(answered["interrupt_ids"], 0)), id);
  Value twice = command("input.respond",
                        R"({"namespace":[],"interrupt_id":")" + id + R"(","response":true})");
  EXPECT_EQ(text(twice["error"]), "no_such_interrupt") << to_json(twice);
}

TEST_F(V2Streams, ContinueWithAnInputThatIsTheReply) {
  auto stream = open(kUsual);
  begin("urgent");
  read_until(*stream, "interrupted");
  Value replied = command("run.start", R"({"assistant_id":"poet","input":true})");
  EXPECT_EQ(text(replied["type"]), "success") << to_json(replied);
  auto rest = read_until(*stream, "completed");
  EXPECT_EQ(to_json(data_of(named(rest, "values").back())["log"]), R"(["urgent","printed"])");
}

TEST_F(V2Streams, ReplyToSeveralInterruptsWithOneCommand) {
  auto stream = open(kUsual);
  begin("both", "pair");
  auto asked = named(read_until(*stream, "interrupted"), "input.requested");
  ASSERT_EQ(asked.size(), 2u);
  std::string replies;
  for (const Event& each : asked) {
    replies += (replies.empty() ? "" : ",") + std::string(R"({"namespace":[],"interrupt_id":")") +
               text(data_of(each)["interrupt_id"]) + R"(","response":true})";
  }
  Value replied = command("input.respond", R"({"responses":[)" + replies + "]}");
  EXPECT_EQ(text(replied["type"]), "success") << to_json(replied);
  auto rest = read_until(*stream, "completed");
  EXPECT_EQ(named(rest, "input.answered").size(), 2u) << lines_of(rest);
}

TEST_F(V2Streams, ContinueARunThatAnotherDoorDecides) {
  auto stream = open(kUsual);
  begin("urgent");
  read_until(*stream, "interrupted");
  auto open_approvals = get("/api/approvals");
  std::string id = text(item(open_approvals.body["approvals"], 0)["interruptId"]);
  auto decided = post("/api/approvals/" + id + "/decision", R"({"approved":true})");
  EXPECT_EQ(decided.status, 200) << to_json(decided.body);
  EXPECT_FALSE(first(read_until(*stream, "completed"), "input.answered").is_null());
}

TEST_F(V2Streams, InterruptAtABreakpointButNotForATimer) {
  auto stream = open(kUsual);
  begin("rest", "stop");
  loop.run_until(clock.now() + std::chrono::seconds(1));
  clock.move(std::chrono::minutes(2));
  block_on(loop, runtime->process_due(default_tenant())).value();
  auto events = read_until(*stream, "interrupted");
  EXPECT_EQ(named(events, "lifecycle").size(), 2u) << lines_of(events);
  EXPECT_TRUE(named(events, "input.requested").empty());
  Value passed = command("run.start", R"({"assistant_id":"stop","input":null})");
  EXPECT_EQ(text(passed["type"]), "success") << to_json(passed);
  read_until(*stream, "completed");
}

TEST_F(V2Streams, ReportTheErrorOfARun) {
  auto stream = open(kUsual);
  begin("bad");
  auto events = read_until(*stream, "failed");
  EXPECT_NE(text(data_of(named(events, "lifecycle").back())["error"]).find("No rhyme."),
            std::string::npos);
}

TEST_F(V2Streams, SendOnlyTheWantedChannels) {
  auto stream = open(R"({"channels":["lifecycle","custom:written"]})");
  begin("rain");
  auto events = read_until(*stream, "completed");
  EXPECT_EQ(text(first(events, "custom")["name"]), "written");
  EXPECT_EQ(named(events, "lifecycle").size() + 1, events.size()) << lines_of(events);
  auto other = open(R"({"channels":["lifecycle","custom:other"]})");
  EXPECT_TRUE(named(read_until(*other, "completed"), "custom").empty());
  auto inside = open(R"({"channels":["lifecycle","values"],"namespaces":[["write"]]})");
  EXPECT_TRUE(block_on(loop, inside->next()).value().starts_with(':'));
}

TEST_F(V2Streams, RefuseFaultySubscriptions) {
  auto status_of_body = [&](const std::string& body) {
    return call("POST", path + "/stream/events", body).status;
  };
  EXPECT_EQ(status_of_body(R"({})"), 422);
  EXPECT_EQ(status_of_body(R"({"channels":[]})"), 422);
  EXPECT_EQ(status_of_body(R"({"channels":["nothing"]})"), 422);
  EXPECT_EQ(status_of_body(R"({"channels":["custom:"]})"), 422);
  EXPECT_EQ(status_of_body(R"({"channels":["values"],"other":1})"), 422);
  EXPECT_EQ(status_of_body(R"({"channels":["values"],"namespaces":["a"]})"), 422);
  EXPECT_EQ(status_of_body(R"({"channels":["values"],"since":-2})"), 422);
  EXPECT_EQ(status_of_body(R"({"channels":["values"],"depth":"one"})"), 422);
}

using V2Commands = V2Streams;

TEST_F(V2Commands, ShowTheStateAndItsCheckpoints) {
  auto stream = open(kUsual);
  begin("rain");
  auto events = read_until(*stream, "completed");
  Value state = command("state.get", R"({"namespace":[],"keys":["topic"]})");
  EXPECT_EQ(to_json(state["result"]["values"]), R"({"topic":"rain"})");
  std::string newest = text(state["result"]["checkpoint"]["id"]);
  Value list = command("state.listCheckpoints", R"({"limit":2})");
  ASSERT_EQ(size_of(list["result"]["checkpoints"]), 2u) << to_json(list);
  EXPECT_EQ(text(item(list["result"]["checkpoints"], 0)["id"]), newest);
  Value older = command("state.listCheckpoints", R"({"before":")" + newest + R"("})");
  EXPECT_EQ(item(older["result"]["checkpoints"], 0), item(list["result"]["checkpoints"], 1));
  Value tree = command("agent.getTree", "{}");
  EXPECT_EQ(text(tree["result"]["tree"]["status"]), "completed");
}

TEST_F(V2Commands, AnswerFaultyCommandsWithACode) {
  auto code_of_command = [&](const std::string& method, const std::string& params) {
    return text(command(method, params)["error"]);
  };
  EXPECT_EQ(code_of_command("run.fly", "{}"), "unknown_command");
  EXPECT_EQ(code_of_command("subscription.subscribe", "{}"), "not_supported");
  EXPECT_EQ(code_of_command("subscription.foo", "{}"), "unknown_command");
  EXPECT_EQ(code_of_command("run.start", "{}"), "invalid_argument");
  EXPECT_EQ(code_of_command("run.start", R"({"assistant_id":"unknown","input":{}})"),
            "invalid_argument");
  EXPECT_EQ(code_of_command("input.respond", "{}"), "invalid_argument");
  EXPECT_EQ(code_of_command("input.inject", R"({"message":{}})"), "invalid_argument");
  EXPECT_EQ(code_of_command("agent.getTree", "{}"), "no_such_run");
  EXPECT_EQ(call("POST", path + "/commands", "[]").status, 422);
  EXPECT_EQ(call("POST", path + "/commands", "{").status, 400);
}

TEST_F(V2Streams, BeginAtTheOldestRunThatHasNotEnded) {
  std::string queued = about("rain", R"(,"multitask_strategy":"enqueue")");
  EXPECT_EQ(call("POST", runs(), sleeper()).status, 200);
  EXPECT_EQ(call("POST", runs(), queued).status, 200);
  auto stream = open(kUsual);
  Events events = read_until(*stream, "completed");
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(v2_ordinal_of(static_cast<std::uint64_t>(seq_of(events.front()))), 0);
}

// The start of the run counts, and the decisions about it do not.
TEST_F(V2Commands, ThatDecideAreNotLimitedAsStarts) {
  options.starts.per_minute = 1;
  add_key("ada", Permission::decide);
  auto sent = [this](const std::string& method, const std::string& params) {
    return as("ada", "POST", path + "/commands",
              R"({"id":1,"method":")" + method + R"(","params":)" + params + "}");
  };
  const std::string start = R"({"assistant_id":"pair","input":{"topic":"a"}})";
  ASSERT_EQ(text(sent("run.start", start).body["type"]), "success");
  as("ada", "GET", path + "/runs");
  std::string one = open_interrupt("ada");
  EXPECT_EQ(as("ada", "POST", runs(), about("rain")).status, 429);
  auto respond = R"({"interrupt_id":")" + one + R"(","response":"approve"})";
  EXPECT_EQ(text(sent("input.respond", respond).body["type"]), "success");
  std::string other = open_interrupt("ada");
  EXPECT_NE(other, one);
  auto resumed =
      as("ada", "POST", runs(), R"({"assistant_id":"pair","command":{"resume":"approve"}})");
  EXPECT_EQ(resumed.status, 200) << to_json(resumed.body);
  EXPECT_EQ(sent("run.start", start).status, 429);
}

TEST_F(V2Commands, NeedThePermissionOfTheirEffect) {
  add_key("reader", Permission::read);
  auto answered = as("reader", "POST", path + "/commands",
                     R"({"id":7,"method":"run.start","params":{"assistant_id":"mail"}})");
  EXPECT_EQ(answered.status, 200);
  EXPECT_EQ(text(answered.body["error"]), "permission_denied");
  EXPECT_EQ(to_json(answered.body["id"]), "7");
  EXPECT_EQ(call("POST", path + "/commands", "{}").status, 401);
  EXPECT_EQ(call("POST", path + "/stream/events", kUsual).status, 401);
}

TEST_F(V2Commands, DoNotShowThreadsOfOtherUsers) {
  add_key("ada", Permission::decide);
  add_key("bob", Permission::decide);
  auto begun = as("ada", "POST", path + "/commands",
                  R"({"id":1,"method":"run.start","params":{"assistant_id":"mail",)"
                  R"("input":{"topic":"the outage"}}})");
  ASSERT_EQ(text(begun.body["type"]), "success") << to_json(begun.body);
  auto state = as("bob", "POST", path + "/commands", R"({"id":1,"method":"state.get"})");
  EXPECT_EQ(text(state.body["error"]), "invalid_argument") << to_json(state.body);
  auto stream = as("bob", "POST", path + "/stream/events", kUsual);
  for (int pieces = 0; pieces < 3; ++pieces) {
    EXPECT_TRUE(block_on(loop, stream.stream->next()).value().starts_with(':'));
  }
}

}  // namespace
}  // namespace belay::langgraph
