// `belay queue clear` and `belay queue stats`, the route that clears a queue, and the changes of
// queues in a store that does not exist.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/served.h"

namespace belay::cli::tests {
namespace {

using ::testing::HasSubstr;

class CliQueueClear : public ::testing::Test {
 protected:
  void enqueue(const std::string& thread, const std::string& queue) {
    Outcome queued = world.run(
        {"enqueue", "daily-audit", "--date", "2026-11-21", "--thread", thread, "--queue", queue});
    ASSERT_EQ(queued.code, 0) << queued.err;
  }
  std::string status_of(const std::string& thread) {
    return text(world.run({"state", thread, "--json"}).json()["status"]);
  }

  World world;
};

TEST_F(CliQueueClear, OnlyTheQueuedRunsOfTheQueueAreCancelled) {
  ASSERT_EQ(world.run({"notes", "import", "-"}, note_line("2026-11-21", hard_day())).code, 0);
  enqueue("waits", "mails");
  ASSERT_EQ(world.run({"worker", "--until-idle"}).code, 0);
  enqueue("one", "mails");
  enqueue("two", "mails");
  enqueue("other", "reports");
  Outcome counted = world.run({"queue", "clear", "mails"});
  ASSERT_EQ(counted.code, 0) << counted.err;
  EXPECT_THAT(counted.out, HasSubstr("2 queued runs."));
  EXPECT_THAT(counted.out, HasSubstr("queue clear mails --yes"));
  EXPECT_EQ(status_of("one"), "queued");
  Value cleared = world.run({"queue", "clear", "mails", "--yes", "--json"}).json();
  EXPECT_EQ(cleared["queued"], Value(2));
  EXPECT_EQ(cleared["cancelled"], Value(2));
  EXPECT_EQ(status_of("one"), "cancelled");
  EXPECT_EQ(status_of("two"), "cancelled");
  EXPECT_EQ(status_of("other"), "queued");
  EXPECT_EQ(status_of("waits"), "paused") << "it waits for a decision";
  cleared = world.run({"queue", "clear", "mails", "--yes", "--json"}).json();
  EXPECT_EQ(cleared["queued"], Value(0));
  EXPECT_EQ(world.run({"check"}).code, 0);
}

TEST_F(CliQueueClear, StatisticsCountTheOpenRunsAndThoseThatHaveEnded) {
  enqueue("one", "mails");
  enqueue("two", "mails");
  ASSERT_EQ(world.run({"cancel", "one"}).code, 0);
  Value found = world.run({"queue", "stats", "mails", "--json"}).json();
  ASSERT_EQ(found["queues"].as_array()->size(), 1u);
  const Value& queue = found["queues"].as_array()->front();
  EXPECT_EQ(queue["queued"], Value(1));
  EXPECT_EQ(queue["endedLastHour"]["cancelled"], Value(1));
  EXPECT_EQ(queue["endedLastHour"]["completed"], Value(0));
  EXPECT_THAT(world.run({"queue", "stats"}).out, HasSubstr("1 cancelled"));
}

struct QueueOf {
  bool paused = false;
  std::int64_t runs_max = 0;
};

QueueOf queue_of(World& world) {
  Value found = world.run({"queue", "--json"}).json();
  if (!found["queues"].as_array() || found["queues"].as_array()->size() != 1u) return {true, -1};
  const Value& queue = found["queues"].as_array()->front();
  return {queue["paused"] == Value(true), queue["runsMax"].as_int().value_or(-1)};
}

TEST(CliQueueChange, OfAStoreThatDoesNotExistIsKept) {
  const std::vector<Words> changes{
      {"limit", "mails", "--max-runs", "1"}, {"pause", "mails"}, {"drain", "mails"}};
  for (const Words& change : changes) {
    SCOPED_TRACE(change.front());
    World world;
    Words words{"queue"};
    words.insert(words.end(), change.begin(), change.end());
    Outcome changed = world.run(words);
    ASSERT_EQ(changed.code, 0) << changed.err;
    bool is_limit = change.front() == "limit";
    EXPECT_EQ(queue_of(world).paused, !is_limit);
    EXPECT_EQ(queue_of(world).runs_max, is_limit ? 1 : 0);
  }
}

TEST_F(CliQueueClear, TheRouteCountsFirstIfItIsAskedTo) {
  enqueue("one", "mails");
  ASSERT_EQ(world.run({"queue", "pause", "mails"}).code, 0);
  Served served(world.setting);
  ASSERT_TRUE(served.is_up());
  Got counted = served.post("/api/queues/mails/clear", R"({"dryRun":true})");
  ASSERT_EQ(counted.status, 200) << counted.body;
  EXPECT_EQ(counted.json()["queued"], Value(1));
  EXPECT_EQ(counted.json()["cancelled"], Value(0));
  EXPECT_EQ(served.post("/api/queues/mails/clear").json()["cancelled"], Value(1));
}

}  // namespace
}  // namespace belay::cli::tests
