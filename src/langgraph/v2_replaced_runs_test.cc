// Streams of a thread whose runs are replaced by others, and the members of events and responses
// that name the runs before.

#include "langgraph/v2_events.h"
#include "tests/support/agent_server_v2_fixture.h"

namespace belay::langgraph {
namespace {

using server::text;

struct V2ReplacedRuns : V2Streams {
  void begin_sleeper() {
    Value started = command("run.start", sleeper());
    EXPECT_EQ(text(started["type"]), "success") << to_json(started);
    loop.run_until(clock.now() + std::chrono::milliseconds(600));
  }
  Value roll_back(const std::string& topic) {
    std::string input = R"({"topic":")" + topic + "\"}";
    return command(
        "run.start",
        R"({"assistant_id":"poet","multitaskStrategy":"rollback","input":)" + input + "}");
  }
  // Reads until the end of a run about the topic, which must be whole.
  Events expect_run(http::BodyStream& stream, const std::string& topic) {
    Events events = read_until(stream, "completed");
    Events own = named(events, "lifecycle");
    EXPECT_EQ(text(data_of(own[own.size() - 2])["event"]), "running") << lines_of(events);
    EXPECT_EQ(text(data_of(named(events, "values").back())["verse"]), "An öde to " + topic);
    return events;
  }
  static void expect_ascending(const Events& events, std::int64_t before) {
    for (const Event& each : events) {
      EXPECT_GT(seq_of(each), before) << lines_of(events);
      before = seq_of(each);
    }
  }
  static std::int64_t applied(const Value& response) {
    return response["meta"]["applied_through_seq"].as_int().value_or(-1);
  }
  static std::string parent_of(const Event& event) { return text(data_of(event)["parent_id"]); }
  static std::string id_of(const Event& event) { return text(data_of(event)["id"]); }
};

TEST_F(V2ReplacedRuns, AreFollowedByTheRunThatARollbackStarts) {
  auto stream = open(kUsual);
  begin_sleeper();
  Events old = read_until(*stream, "running");
  EXPECT_EQ(text(roll_back("rain")["type"]), "success");
  Events events = expect_run(*stream, "rain");
  expect_ascending(events, seq_of(old.back()));
}

TEST_F(V2ReplacedRuns, AreFollowedByAllOfTheNewRunForAClientThatReconnects) {
  auto stream = open(kUsual);
  begin_sleeper();
  Events old = read_until(*stream, "running");
  roll_back("rain");
  expect_run(*stream, "rain");
  std::string since = ",\"since\":" + std::to_string(seq_of(old.back())) + "}";
  auto again = open(std::string(kUsual, std::string_view(kUsual).size() - 1) + since);
  Events events = expect_run(*again, "rain");
  EXPECT_EQ(text(data_of(events.front())["event"]), "running");
}

TEST_F(V2ReplacedRuns, AreFollowedByALaterRunOfTheThreadThatReplacesThem) {
  auto stream = open(kUsual);
  begin("one");
  Events events = read_until(*stream, "completed");
  begin_sleeper();
  Events old = read_until(*stream, "running");
  roll_back("rain");
  Events rest = expect_run(*stream, "rain");
  events.insert(events.end(), old.begin(), old.end());
  events.insert(events.end(), rest.begin(), rest.end());
  expect_ascending(events, 0);
}

TEST_F(V2ReplacedRuns, AreFollowedByTheFirstRunOfAThreadThatWasDeleted) {
  auto stream = open(kUsual);
  for (const char* topic : {"one", "two"}) {
    begin(topic);
    read_until(*stream, "completed");
  }
  EXPECT_EQ(call("DELETE", path).status, 204);
  begin("rain");
  Events events = expect_run(*stream, "rain");
  EXPECT_EQ(text(data_of(events.front())["event"]), "running");
}

TEST_F(V2ReplacedRuns, DoNotHideARunOfADeletedThreadFromAClientThatHasTheirSeq) {
  auto stream = open(kUsual);
  std::int64_t last = 0;
  for (const char* topic : {"one", "two"}) {
    begin(topic);
    last = seq_of(read_until(*stream, "completed").back());
  }
  EXPECT_EQ(call("DELETE", path).status, 204);
  std::string since = ",\"since\":" + std::to_string(last) + "}";
  auto before = open(std::string(kUsual, std::string_view(kUsual).size() - 1) + since);
  EXPECT_TRUE(block_on(loop, before->next()).value().starts_with(':'));
  begin("rain");
  expect_run(*before, "rain");
  auto after = open(std::string(kUsual, std::string_view(kUsual).size() - 1) + since);
  expect_run(*after, "rain");
}

TEST_F(V2ReplacedRuns, AreNotRepeatedWhenTheNewestRunIsDeleted) {
  auto stream = open(kUsual);
  std::string one = text(begin("one")["result"]["run_id"]);
  read_until(*stream, "completed");
  EXPECT_EQ(call("DELETE", runs("/" + one)).status, 204);
  for (int pieces = 0; pieces < 3; ++pieces) {
    EXPECT_TRUE(block_on(loop, stream->next()).value().starts_with(':'));
  }
  begin("rain");
  expect_run(*stream, "rain");
}

TEST_F(V2ReplacedRuns, HaveTheNumbersUpToThatOfTheNextResponse) {
  EXPECT_EQ(applied(command("state.get", "{}")), 0);
  auto stream = open(kUsual);
  Value first = begin("one");
  Events one = read_until(*stream, "completed");
  EXPECT_GT(applied(first), 0) << to_json(first);
  EXPECT_LT(applied(first), seq_of(one.front()));
  Value second = begin("urgent");
  Events two = read_until(*stream, "interrupted");
  EXPECT_GE(applied(second), seq_of(one.back()));
  EXPECT_LT(applied(second), seq_of(two.front()));
}

TEST_F(V2ReplacedRuns, IncludeNoneThatHasNotEnded) {
  auto stream = open(kUsual);
  begin_sleeper();
  Events events = read_until(*stream, "running");
  Value queued = begin("later");
  EXPECT_GT(applied(queued), 0) << to_json(queued);
  EXPECT_LT(applied(queued), seq_of(events.front()));
}

using V2Checkpoints = V2ReplacedRuns;

TEST_F(V2Checkpoints, NameTheirParentsOverAllRuns) {
  auto stream = open(kUsual);
  begin("one");
  Events one = named(read_until(*stream, "completed"), "checkpoints");
  begin("urgent");
  Events two = named(read_until(*stream, "interrupted"), "checkpoints");
  ASSERT_TRUE(one.size() > 1 && two.size() > 1);
  EXPECT_TRUE(data_of(one.front())["parent_id"].is_null());
  EXPECT_EQ(parent_of(two.front()), id_of(one.back()));
  command("run.start", R"({"assistant_id":"poet","input":true})");
  Events rest = named(read_until(*stream, "completed"), "checkpoints");
  ASSERT_FALSE(rest.empty());
  EXPECT_EQ(parent_of(rest.front()), id_of(two.back()));
  Events all = one;
  all.insert(all.end(), two.begin(), two.end());
  all.insert(all.end(), rest.begin(), rest.end());
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_EQ(parent_of(all[i]), id_of(all[i - 1]));
}

TEST_F(V2Checkpoints, NameTheCheckpointAtWhichARunForks) {
  auto stream = open(kUsual);
  begin("one");
  Events one = named(read_until(*stream, "completed"), "checkpoints");
  begin("two");
  read_until(*stream, "completed");
  clock.move(std::chrono::seconds(1));
  command("run.start",
          R"({"assistant_id":"poet","input":{"topic":"three"},"config":{"configurable":)"
          R"({"checkpoint_id":")" +
              id_of(one.back()) + R"("}}})");
  Events three = named(read_until(*stream, "completed"), "checkpoints");
  ASSERT_FALSE(three.empty());
  EXPECT_EQ(parent_of(three.front()), id_of(one.back()));
}

}  // namespace
}  // namespace belay::langgraph
