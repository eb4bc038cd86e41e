// Runs that wait for their time, in their queue, or for a person are not orphaned: no list of
// orphaned runs contains them, and lists show when they are due. With a store, and with a server.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/served.h"

namespace belay::cli::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CliDelayed : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    world.setting.environment["BELAY_TIME_ZONE"] = "Europe/Madrid";
    if (GetParam()) {
      served = std::make_unique<Served>(world.setting);
      ASSERT_TRUE(served->is_up());
      world.setting.environment.erase("BELAY_STORE");
      world.setting.environment["BELAY_SERVER"] = served->url("");
    }
    ASSERT_EQ(world.run({"notes", "import", "-"}, note_line("2026-01-01", "A calm day.")).code, 0);
  }
  Outcome enqueue(const std::string& thread, const Words& more) {
    Words words = {"enqueue", "daily-audit", "--date", "2026-01-01", "--thread", thread};
    words.insert(words.end(), more.begin(), more.end());
    return world.run(words);
  }
  std::string status_of(const std::string& thread) {
    return text(world.run({"state", thread, "--json"}).json()["status"]);
  }
  static bool is_in_a_day(const Value& due) {
    auto at = instant_from(text(due));
    Instant tomorrow = system_clock()->now() + std::chrono::hours(24);
    return at && *at < tomorrow && *at > tomorrow - std::chrono::hours(1);
  }

  World world;
  std::unique_ptr<Served> served;
};

TEST_P(CliDelayed, AreNotLeftBehindAndNotTakenUpByTheWay) {
  ASSERT_EQ(enqueue("tomorrow", {"--after", "1d"}).code, 0);
  ASSERT_EQ(world.run({"queue", "pause", "slow"}).code, 0);
  ASSERT_EQ(enqueue("held", {"--queue", "slow"}).code, 0);
  Outcome overview = world.run({});
  EXPECT_THAT(overview.out, Not(HasSubstr("Orphaned")));
  EXPECT_THAT(overview.out, Not(HasSubstr("resume --all")));
  EXPECT_THAT(overview.out, HasSubstr("Queued (2):"));
  EXPECT_THAT(overview.out, HasSubstr("tomorrow"));
  Value document = world.run({"--json"}).json();
  EXPECT_THAT(*document["orphaned"].as_array(), IsEmpty());
  ASSERT_EQ(document["queued"].as_array()->size(), 2u);
  Outcome all = world.run({"resume", "--all"});
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_THAT(all.out, HasSubstr("No runs to resume."));
  EXPECT_EQ(status_of("tomorrow"), "queued");
  EXPECT_EQ(status_of("held"), "queued");
  if (served) {
    EXPECT_THAT(*served->get("/api/left-behind").json()["threads"].as_array(), IsEmpty());
  }
}

TEST_P(CliDelayed, SayWhenTheyAreDueInTheTimeOfThePerson) {
  Outcome queued = enqueue("tomorrow", {"--after", "1d"});
  EXPECT_THAT(queued.out, HasSubstr("Due 20"));
  EXPECT_THAT(queued.out, Not(HasSubstr("held by")));
  for (const Words& words :
       std::vector<Words>{{"state", "tomorrow"}, {"threads"}, {"history", "tomorrow"}, {}}) {
    Outcome shown = world.run(words);
    EXPECT_THAT(shown.out, HasSubstr("Due 20")) << shown.err;
    EXPECT_THAT(shown.out, HasSubstr(" Europe/Madrid, in 23 h 59 min")) << shown.out;
    EXPECT_THAT(shown.out, Not(HasSubstr("due at "))) << "in another zone";
  }
  EXPECT_TRUE(is_in_a_day(world.run({"state", "tomorrow", "--json"}).json()["dueAt"]));
  EXPECT_TRUE(is_in_a_day(world.run({"history", "tomorrow", "--json"}).json()["dueAt"]));
  Value threads = world.run({"threads", "--json"}).json();
  EXPECT_TRUE(is_in_a_day(threads["threads"].as_array()->front()["run"]["dueAt"]));
  EXPECT_TRUE(is_in_a_day(world.run({"--json"}).json()["queued"].as_array()->front()["dueAt"]));
  if (served) {
    EXPECT_TRUE(is_in_a_day(served->get("/api/threads/tomorrow").json()["dueAt"]));
    EXPECT_TRUE(is_in_a_day(served->get("/api/agents/status/tomorrow").json()["dueAt"]));
  }
}

TEST_P(CliDelayed, AreExplained) {
  ASSERT_EQ(enqueue("tomorrow", {"--after", "1d"}).code, 0);
  Outcome why = world.run({"why", "tomorrow"});
  EXPECT_EQ(why.code, 0) << why.err;
  EXPECT_THAT(why.out, HasSubstr("delayed_start"));
  EXPECT_THAT(why.out, HasSubstr("in 23 h 59 min"));
  Value document = world.run({"why", "tomorrow", "--json"}).json();
  EXPECT_EQ(document["cause"], Value("delayed_start"));
  EXPECT_TRUE(is_in_a_day(document["chain"].as_array()->front()["until"]));
  EXPECT_NE(world.run({"why", "nowhere"}).code, 0);
}

TEST_P(CliDelayed, BeginEarlyWhenAPersonAsksForOneByName) {
  ASSERT_EQ(enqueue("tomorrow", {"--after", "1d"}).code, 0);
  Outcome early = world.run({"resume", "tomorrow"});
  EXPECT_EQ(early.code, 0) << early.err;
  EXPECT_THAT(early.err, HasSubstr("Thread tomorrow is due at 20"));
  EXPECT_THAT(early.err, HasSubstr("Starting it now"));
  EXPECT_THAT(early.err, Not(HasSubstr("Claiming")));
  EXPECT_EQ(status_of("tomorrow"), "completed");
  EXPECT_TRUE(world.run({"state", "tomorrow", "--json"}).json()["dueAt"].is_null());
}

TEST_P(CliDelayed, AreNotThoseThatWaitForAPerson) {
  ASSERT_EQ(world.run({"notes", "import", "-"}, note_line("2026-01-02", hard_day())).code, 0);
  ASSERT_EQ(world.run({"run", "daily-audit", "--date", "2026-01-02", "--thread", "t"}).code, 3);
  Outcome overview = world.run({});
  EXPECT_THAT(overview.out, Not(HasSubstr("Orphaned")));
  EXPECT_THAT(overview.out, Not(HasSubstr("Queued")));
  Outcome state = world.run({"state", "t"});
  EXPECT_THAT(state.out, Not(HasSubstr("Due")));
  EXPECT_THAT(state.out, HasSubstr(" Europe/Madrid, in 23 h 59 min")) << "its expiry";
}

INSTANTIATE_TEST_SUITE_P(Everywhere, CliDelayed, ::testing::Bool(), [](const auto& each) {
  return std::string(each.param ? "ThroughAServer" : "AtAStore");
});

}  // namespace
}  // namespace belay::cli::tests
