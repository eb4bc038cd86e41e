// The owner of a run: a live process keeps it, and a run of a dead one is taken over immediately.

#include <gtest/gtest.h>
#include <signal.h>

#include <memory>

#include "tests/cli/belay_process.h"

namespace belay::cli::tests {
namespace {

class CliOwnership : public ::testing::Test {
 protected:
  void SetUp() override {
    Outcome imported = world.run({"notes", "import", "-"}, note_line("2026-01-01", hard_day()));
    ASSERT_EQ(imported.code, 0) << imported.err;
  }
  // Starts the run of thread "t" and pauses its process at the n-th commit.
  std::unique_ptr<Belay> paused_at(int commit, bool after) {
    Setting setting = world.setting;
    setting.environment["BELAY_TEST_PAUSE_AT_COMMIT"] = std::to_string(commit);
    if (after) setting.environment["BELAY_TEST_PAUSE_AFTER"] = "1";
    Words words = {"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"};
    auto process = std::make_unique<Belay>(words, setting);
    EXPECT_TRUE(process->waits_to_say("belay-test: paused"));
    return process;
  }
  World world;
};

TEST_F(CliOwnership, ALivingProcessKeepsItsRun) {
  auto living = paused_at(3, false);
  std::string pid = std::to_string(living->process());
  Outcome resume = world.run({"resume", "t"});
  EXPECT_EQ(resume.code, 4);
  EXPECT_TRUE(resume.says({"\"t\"", "live process", pid})) << resume.err;
  Outcome all = world.run({"resume", "--all", "--json"});
  EXPECT_EQ(all.code, 0);
  EXPECT_EQ(all.out, "{\"failed\":[],\"resumed\":[]}\n");
  EXPECT_EQ((*world.run({"--json"}).json()["running"].as_array())[0]["threadId"], Value("t"));
}

TEST_F(CliOwnership, ARunThatIsAskedForAgainWaitsForItsProcessAndGoesOnWhereThatDies) {
  auto living = paused_at(3, false);
  std::string pid = std::to_string(living->process());
  Words words = {"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"};
  Belay again(words, world.setting);
  ASSERT_TRUE(again.waits_to_say("another live process (" + pid + ")")) << again.said();
  Outcome other = world.run({"run", "daily-audit", "--date", "2026-01-02", "--thread", "t"});
  EXPECT_EQ(other.code, 2) << other.err;
  living->send(SIGKILL);
  Outcome ended = again.finish();
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_NE(ended.out.find("Risk 7"), std::string::npos) << ended.out;
}

TEST_F(CliOwnership, ADeadProcesssRunIsTakenOverAtOnce) {
  paused_at(3, false)->send(SIGKILL);
  Outcome resumed = world.run({"resume", "t"});
  EXPECT_EQ(resumed.code, 3) << resumed.err;
  EXPECT_NE(resumed.err.find("Claiming thread t"), std::string::npos) << resumed.err;
  EXPECT_NE(resumed.out.find("Risk 7"), std::string::npos) << resumed.out;
}

TEST_F(CliOwnership, WhereverItWasKilledTheOutcomeIsTheSame) {
  for (int commit = 1; commit <= 5; ++commit) {
    for (bool after : {false, true}) {
      World fresh;
      world.setting.environment["BELAY_STORE"] = fresh.setting.environment["BELAY_STORE"];
      SetUp();
      paused_at(commit, after)->send(SIGKILL);
      Outcome all = world.run({"resume", "--all", "--json"});
      bool had_begun = commit > 1 || after;
      bool waits_already = commit == 5 && after;
      EXPECT_EQ(all.code, had_begun && !waits_already ? 3 : 0) << all.err;
      Outcome again = world.run({"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"});
      EXPECT_EQ(again.code, 3) << again.err;
      EXPECT_EQ(world.run({"approvals", "approve", "t"}).code, 0);
      EXPECT_EQ(world.run({"state", "t", "--json"}).json()["outcome"], Value("saved"));
      EXPECT_EQ(world.run({"check"}).code, 0);
    }
  }
}

TEST_F(CliOwnership, AKilledDecisionIsNotLost) {
  ASSERT_EQ(world.run({"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"}).code, 3);
  Setting setting = world.setting;
  setting.environment["BELAY_TEST_PAUSE_AT_COMMIT"] = "1";
  setting.environment["BELAY_TEST_PAUSE_AFTER"] = "1";
  {
    Belay deciding({"approvals", "approve", "t", "--by", "ana"}, setting);
    ASSERT_TRUE(deciding.waits_to_say("belay-test: paused"));
    deciding.send(SIGKILL);
  }
  Outcome rejected = world.run({"approvals", "reject", "t"});
  EXPECT_EQ(rejected.code, 4) << rejected.err;
  Outcome resumed = world.run({"resume", "t", "--json"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(resumed.json()["outcome"], Value("saved"));
}

// Ignores a signal, as a shell does for its background jobs.
struct IgnoredHere {
  explicit IgnoredHere(int number) : signal(number), before(::signal(number, SIG_IGN)) {}
  IgnoredHere(const IgnoredHere&) = delete;
  IgnoredHere& operator=(const IgnoredHere&) = delete;
  ~IgnoredHere() { ::signal(signal, before); }
  int signal;
  void (*before)(int);
};

TEST_F(CliOwnership, ASignalStopsItSoThatItCanGoOn) {
  for (int signal : {SIGINT, SIGTERM}) {
    IgnoredHere ignored(signal);
    World fresh;
    world.setting.environment["BELAY_STORE"] = fresh.setting.environment["BELAY_STORE"];
    SetUp();
    auto process = paused_at(3, false);
    process->send(signal);
    ASSERT_TRUE(process->waits_to_say("belay resume t"));
    // The test holds the writer permanently: only a second signal can end the process.
    process->send(signal);
    EXPECT_EQ(process->finish().code, 128 + signal);
    EXPECT_EQ(world.run({"resume", "t"}).code, 3);
  }
}

TEST_F(CliOwnership, CancelTakesTheRunFromWhoeverHasIt) {
  auto living = paused_at(3, false);
  Outcome cancelled = world.run({"cancel", "t", "--by", "ana", "--json"});
  EXPECT_EQ(cancelled.code, 0) << cancelled.err;
  EXPECT_EQ(cancelled.json()["status"], Value("cancelled"));
  EXPECT_EQ(world.run({"cancel", "t"}).code, 0) << "again changes nothing";
  Outcome resumed = world.run({"resume", "t"});
  EXPECT_EQ(resumed.code, 7) << resumed.err;
  EXPECT_EQ(world.run({"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"}).code, 7);
}

TEST_F(CliOwnership, ResumeOfNothing) {
  EXPECT_EQ(world.run({"resume", "--all"}).code, 0);
  Outcome unknown = world.run({"resume", "nobody"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(unknown.says({"nobody"})) << unknown.err;
  EXPECT_EQ(world.run({"resume"}).code, 2);
  EXPECT_EQ(world.run({"resume", "t", "--all"}).code, 2);
}

TEST_F(CliOwnership, ABadSeamIsBadInput) {
  world.setting.environment["BELAY_TEST_PAUSE_AT_COMMIT"] = "soon";
  EXPECT_EQ(world.run({"threads"}).code, 2);
}

}  // namespace
}  // namespace belay::cli::tests
