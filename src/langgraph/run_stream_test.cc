// Streams of runs of the Agent Server API, and their continuation.

#include "tests/support/agent_server_run_fixture.h"

namespace belay::langgraph {
namespace {

using server::text;

constexpr const char* kAllModes =
    R"(["values","updates","messages-tuple","messages","custom","tasks","checkpoints","debug",)"
    R"("events","tools"])";

struct AgentServerStreams : RunFixture {
  static std::string all_modes(const std::string& topic) {
    return about(topic, std::string(R"(,"stream_mode":)") + kAllModes);
  }
  static std::vector<std::string> names_of(const Events& events) {
    std::vector<std::string> names;
    for (const Event& each : events) names.push_back(each.name);
    return names;
  }
  // Expects that the checkpoints of a stream are those of the history, with the same parents.
  void expect_history_of(const Events& events) {
    std::map<std::string, Value> states;
    Value history = get(std::string("/threads/") + kThreadA + "/history?limit=100").body;
    for (const Value& each : *history.as_array()) {
      states.emplace(text(each["checkpoint"]["checkpoint_id"]), each);
    }
    std::size_t found = 0;
    for (const Event& each : events) {
      bool is_checkpoint = each.name == "debug" && each.data["type"] == Value("checkpoint");
      if (!is_checkpoint) continue;
      const Value& payload = each.data["payload"];
      const Value& configured = payload["config"]["configurable"];
      const Value& state = states[text(configured["checkpoint_id"])];
      ASSERT_TRUE(state.as_object()) << "not in the history: " << to_json(payload);
      EXPECT_EQ(payload["checkpoint"], state["checkpoint"]);
      EXPECT_EQ(payload["parent_checkpoint"], state["parent_checkpoint"]) << to_json(payload);
      EXPECT_EQ(payload["parent_config"]["configurable"]["checkpoint_id"],
                state["parent_checkpoint"]["checkpoint_id"]);
      ++found;
    }
    EXPECT_GT(found, 0u) << lines_of(events);
  }
  static void expect_numbers(const Events& events) {
    for (std::size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i].id, std::to_string(i));
  }
};

TEST_F(AgentServerStreams, OfValuesHaveNothingElse) {
  clock.move(std::chrono::seconds(1));
  auto answered = post(runs("/stream"), about("rain"));
  ASSERT_EQ(answered.status, 200);
  EXPECT_EQ(answered.header("Content-Type"), "text/event-stream");
  std::string path = answered.header("Content-Location");
  EXPECT_EQ(answered.header("Location"), path + "/stream");
  Events events = events_of(answered);
  expect_numbers(events);
  ASSERT_GE(events.size(), 3u) << lines_of(events);
  EXPECT_EQ(events.front().name, "metadata");
  EXPECT_EQ(runs("/" + text(events.front().data["run_id"])), path);
  EXPECT_EQ(named(events, "values").size() + 1, events.size()) << lines_of(events);
  EXPECT_EQ(text(events.back().data["verse"]), "An öde to rain");
}

TEST_F(AgentServerStreams, HaveTheTextBeforeItIsDurable) {
  auto answered = post(runs("/stream"), sleeper(R"(,"stream_mode":"messages-tuple")"));
  ASSERT_TRUE(answered.stream);
  std::string received;
  Instant began_at = clock.now();
  while (received.find("to ") == received.npos) {
    std::string piece = block_on(loop, answered.stream->next()).value();
    ASSERT_FALSE(piece.empty()) << received;
    received += piece;
  }
  EXPECT_LT(clock.now() - began_at, std::chrono::seconds(30));
  Events events = parsed(received + read_all(*answered.stream));
  expect_numbers(events);
  std::string whole;
  for (const Event& each : named(events, "messages")) {
    whole += text(each.data.as_array()->front()["content"]);
    EXPECT_EQ(text(each.data.as_array()->back()["langgraph_node"]), "write");
  }
  EXPECT_EQ(whole, "An öde to sleep");
}

TEST_F(AgentServerStreams, HaveAllModesInTheOrderOfASuperstep) {
  Events events = stream_run(all_modes("rain"));
  expect_numbers(events);
  std::vector<std::string> names = names_of(events);
  auto first = [&names](const char* name) {
    return std::find(names.begin(), names.end(), name) - names.begin();
  };
  for (const char* name :
       {"values", "updates", "messages", "messages/metadata", "custom", "messages/partial",
        "messages/complete", "tasks", "checkpoints", "debug", "events"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
  EXPECT_LT(first("checkpoints"), first("values"));
  EXPECT_LT(first("values"), first("tasks"));
  EXPECT_LT(first("tasks"), first("messages"));
  EXPECT_LT(first("messages"), first("custom"));
  EXPECT_LT(first("custom"), first("updates"));
  EXPECT_EQ(text(named(events, "custom").front().data["type"]), "written");
  EXPECT_EQ(text(named(events, "updates").front().data["write"]["verse"]), "An öde to rain");
}

// Clients edit a message by a run from the parent of the checkpoint that has it.
TEST_F(AgentServerStreams, HaveTheCheckpointsOfTheHistoryWithTheirParents) {
  const std::string debug = R"(,"stream_mode":"debug")";
  Events first = stream_run(about("rain", debug));
  expect_history_of(first);
  expect_history_of(stream_run(about("urgent", debug)));
  Events resumed = stream_run(resume("true", debug));
  expect_history_of(resumed);
  std::string run = text(resumed.front().data["run_id"]);
  expect_each_rest(resumed, runs("/" + run + "/stream?stream_mode=debug"));
  std::string origin;
  for (const Event& each : named(first, "debug")) {
    const Value& id = each.data["payload"]["checkpoint"]["checkpoint_id"];
    if (!id.is_null()) origin = text(id);
  }
  std::string fork = R"(,"checkpoint_id":")" + origin + "\"";
  Events forked = stream_run(about("sun", debug + fork));
  expect_history_of(forked);
  EXPECT_EQ(
      text(named(forked, "debug").at(0).data["payload"]["parent_checkpoint"]["checkpoint_id"]),
      origin);
}

TEST_F(AgentServerStreams, OfARunThatWaitsBeginWithItsStart) {
  std::string first = begin(sleeper());
  const std::string more = R"(,"multitask_strategy":"enqueue","stream_mode":["debug","values"])";
  auto answered = post(runs("/stream"), about("rain", more));
  joined(first);
  ASSERT_TRUE(block_on(loop, runtime->resume(default_tenant(), ThreadId(kThreadA))).ok());
  Events queued = events_of(answered);
  expect_numbers(queued);
  expect_history_of(queued);
  EXPECT_EQ(text(named(queued, "values").front().data["topic"]), "rain") << lines_of(queued);
  expect_each_rest(queued, runs("/" + text(queued.front().data["run_id"]) + "/stream"));
}

TEST_F(AgentServerStreams, ContinueAfterEachEventWithTheSameNumbers) {
  Events whole = stream_run(all_modes("rain"));
  ASSERT_FALSE(whole.empty());
  std::string run = text(whole.front().data["run_id"]);
  expect_each_rest(whole, runs("/" + run + "/stream"));
  expect_each_rest(whole, "/runs/" + run + "/stream");
}

TEST_F(AgentServerStreams, ContinueWhileTheRunIsInProgress) {
  std::string run = begin(sleeper(R"(,"stream_mode":["values","messages-tuple"])"));
  std::string path = runs("/" + run + "/stream");
  auto first = get(path);
  ASSERT_TRUE(first.stream);
  std::string received;
  while (received.find("to ") == received.npos) {
    received += block_on(loop, first.stream->next()).value();
  }
  Events seen = parsed(received);
  first.stream.reset();
  Events rest = rejoined(path, seen.back().id);
  Events whole = rejoined(path, "-1");
  seen.insert(seen.end(), rest.begin(), rest.end());
  EXPECT_EQ(lines_of(seen), lines_of(whole));
}

// The client might have received any part of the text of the failed attempt.
TEST_F(AgentServerStreams, ContinueAfterATextThatWasRevokedWithoutAGap) {
  Events live = stream_run(about("luck", R"(,"stream_mode":["messages-tuple","values"])"));
  auto number = [](const Event& each) { return *server::number_from(each.id); };
  for (std::size_t i = 1; i < live.size(); ++i) EXPECT_GT(number(live[i]), number(live[i - 1]));
  std::string path = runs("/" + text(live.front().data["run_id"]) + "/stream");
  Events durable = rejoined(path, "-1");
  EXPECT_GT(live.size(), durable.size()) << "the text of the first attempt was sent";
  EXPECT_EQ(durable.back().id, live.back().id);
  for (const Event& received : live) {
    Events rest;
    for (const Event& each : durable) {
      if (number(each) > number(received)) rest.push_back(each);
    }
    EXPECT_EQ(lines_of(rejoined(path, received.id)), lines_of(rest)) << received.id;
  }
}

TEST_F(AgentServerStreams, EndWithTheInterruptAndAgainAfterTheResume) {
  Events first = stream_run(all_modes("urgent"));
  ASSERT_FALSE(first.empty());
  EXPECT_EQ(first.back().name, "values");
  const Value& asked = first.back().data["__interrupt__"];
  ASSERT_EQ(size_of(asked), 1u) << lines_of(first);
  EXPECT_EQ(named(first, "updates").back().data["__interrupt__"], asked);
  std::string modes = std::string(R"(,"stream_mode":)") + kAllModes;
  Events second = stream_run(resume("true", modes));
  expect_numbers(second);
  ASSERT_FALSE(second.empty());
  EXPECT_EQ(second.front().name, "metadata");
  EXPECT_EQ(to_json(named(second, "values").back().data["log"]), R"(["urgent","printed"])")
      << lines_of(second);
  EXPECT_TRUE(named(second, "messages").empty()) << "its text belongs to the first run";
  std::string one = text(first.front().data["run_id"]), two = text(second.front().data["run_id"]);
  EXPECT_NE(one, two);
  expect_each_rest(first, runs("/" + one + "/stream"));
  expect_each_rest(second, runs("/" + two + "/stream"));
}

TEST_F(AgentServerStreams, EndWithAnError) {
  Events events = stream_run(about("bad"));
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.back().name, "error") << lines_of(events);
  EXPECT_EQ(text(events.back().data["error"]), "invalid");
  std::string run = text(events.front().data["run_id"]);
  expect_each_rest(events, runs("/" + run + "/stream"));
  EXPECT_EQ(status_of_run(run), "error");
}

TEST_F(AgentServerStreams, CanBeJoinedInOtherModes) {
  std::string run = begin(about("rain"));
  joined(run);
  std::string path = runs("/" + run + "/stream?stream_mode=");
  EXPECT_EQ(named(rejoined(path + "updates&stream_mode=custom", "-1"), "custom").size(), 1u);
  EXPECT_EQ(named(rejoined(path + "%5B%22custom%22%5D", "-1"), "custom").size(), 1u);
  EXPECT_EQ(get(path + "everything").status, 422);
  auto sent = request("GET", path + "values");
  sent.headers.push_back({"Last-Event-ID", "perhaps"});
  EXPECT_EQ(send(std::move(sent)).status, 422);
}

TEST_F(AgentServerStreams, CancelTheRunOnlyIfTheClientAskedForIt) {
  auto kept = post(runs("/stream"), sleeper());
  std::string run = kept.header("Content-Location").substr(runs("/").size());
  block_on(loop, kept.stream->next()).value();
  kept.stream.reset();
  loop.run_until(clock.now() + std::chrono::seconds(1));
  EXPECT_EQ(status_of_run(run), "running");
  auto joining = get(runs("/" + run + "/stream?cancel_on_disconnect=1"));
  block_on(loop, joining.stream->next()).value();
  joining.stream.reset();
  loop.run_until(clock.now() + std::chrono::seconds(1));
  EXPECT_EQ(status_of_run(run), "interrupted");
  auto left = post(runs("/stream"), sleeper(R"(,"on_disconnect":"cancel")"));
  run = left.header("Content-Location").substr(runs("/").size());
  block_on(loop, left.stream->next()).value();
  left.stream.reset();
  loop.run_until(clock.now() + std::chrono::seconds(1));
  EXPECT_EQ(status_of_run(run), "interrupted");
}

TEST_F(AgentServerStreams, OfAServerThatShutsDownCancelNothing) {
  auto left = post(runs("/stream"), sleeper(R"(,"on_disconnect":"cancel")"));
  std::string run = left.header("Content-Location").substr(runs("/").size());
  block_on(loop, left.stream->next()).value();
  left.stream.reset();
  loop.run_until(clock.now() + std::chrono::seconds(1));
  ASSERT_EQ(status_of_run(run), "interrupted");
  options.readiness = []() -> Task<Result<Done>> {
    co_return error(ErrorCode::unavailable, "Shutting down.");
  };
  serve();
  left = post(runs("/stream"), sleeper(R"(,"on_disconnect":"cancel")"));
  run = left.header("Content-Location").substr(runs("/").size());
  block_on(loop, left.stream->next()).value();
  left.stream.reset();
  loop.run_until(clock.now() + std::chrono::seconds(1));
  EXPECT_EQ(status_of_run(run), "running");
}

TEST_F(AgentServerStreams, NameTheSubgraphOfAnEvent) {
  std::string body = std::string(R"({"assistant_id":"shell","input":{"topic":"rain"},)") +
                     R"("stream_mode":["updates","values","messages-tuple"])";
  Events outer = stream_run(body + "}");
  for (const Event& each : outer) EXPECT_EQ(each.name.find('|'), each.name.npos) << each.name;
  std::string path = std::string("/threads/") + kThreadB + "/runs/stream";
  Events all = stream_run(body + R"(,"stream_subgraphs":true,"if_not_exists":"create"})", path);
  expect_numbers(all);
  bool has_inner = std::any_of(all.begin(), all.end(), [](const Event& each) {
    return each.name.starts_with("updates|inside:");
  });
  EXPECT_TRUE(has_inner) << lines_of(all);
  std::string run = text(all.front().data["run_id"]);
  expect_each_rest(all, "/runs/" + run + "/stream");
}

TEST_F(AgentServerStreams, WithoutAThreadDeleteItAtTheirEnd) {
  auto answered = post("/runs/stream", about("x"));
  std::string path = answered.header("Content-Location");
  EXPECT_TRUE(path.starts_with("/runs/"));
  Events events = events_of(answered);
  EXPECT_EQ(text(events.back().data["verse"]), "An öde to x") << lines_of(events);
  answered.stream.reset();
  loop.run_until(clock.now() + std::chrono::seconds(1));
  EXPECT_EQ(get(path + "/stream").status, 404);
  EXPECT_EQ(all_runs().size(), 0u);
}

}  // namespace
}  // namespace belay::langgraph
