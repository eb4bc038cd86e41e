// A live process remains the owner of its run even while it is idle; when it is killed, the run is
// orphaned immediately.

#include <gtest/gtest.h>
#include <signal.h>

#include <iostream>

#include "tests/crash/baseline.h"
#include "tests/crash/store_files.h"

namespace belay::crash {
namespace {

constexpr std::size_t kAuditRun = 1;
constexpr int kTakeovers = 6;

class CrashOwnership : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = Baseline::make();
    ASSERT_TRUE(made.ok()) << made.error().message;
    baseline = *std::move(made);
    folder = new_folder();
    copy_store(baseline->folder_before(kAuditRun), folder);
  }
  void TearDown() override {
    if (!HasFailure()) return remove_folder(folder);
    std::cout << "the store: " << store_in(folder) << std::endl;
  }

  std::unique_ptr<Belay> audit(std::uint64_t pause_commit, bool after) const {
    Setting setting = setting_for(folder);
    make_model_fail(setting);
    if (pause_commit > 0) pause_at(setting, pause_commit, after);
    return std::make_unique<Belay>(baseline->steps()[kAuditRun].words, setting);
  }
  Outcome run(const Words& words) const {
    return cli::tests::run_belay(words, setting_for(folder));
  }
  // Expects the same result as that of the audit without a kill.
  void expect_audited() const {
    const Sight& wanted = baseline->before(kAuditRun + 1);
    EXPECT_EQ(judge(folder, baseline->before(kAuditRun), {}, wanted), std::vector<std::string>());
  }
  std::size_t failed_attempts() const {
    auto sight = look_at(folder);
    return sight.ok() ? sight->failed_attempts : 0;
  }
  // Expects that a live process keeps its run.
  void expect_refused(const Belay& owner) const {
    Outcome resume = run({"resume", "audit"});
    EXPECT_EQ(resume.code, 4) << resume.err;
    EXPECT_NE(resume.err.find(std::to_string(owner.process())), resume.err.npos) << resume.err;
    Outcome all = run({"resume", "--all", "--json"});
    EXPECT_EQ(all.code, 0) << all.err;
    EXPECT_EQ(all.out, "{\"failed\":[],\"resumed\":[]}\n");
  }

  std::unique_ptr<Baseline> baseline;
  std::string folder;
};

TEST_F(CrashOwnership, WhatALivingProcessHasIsTakenOverOnceItIsKilled) {
  // Pauses after the failed attempt, so that the process that takes over needs no failing model.
  std::unique_ptr<Belay> owner = audit(4, false);
  ASSERT_TRUE(owner->waits_to_say(kPaused));
  expect_refused(*owner);
  owner->send(SIGKILL);
  EXPECT_EQ(owner->finish().code, 128 + SIGKILL);
  EXPECT_EQ(run({"resume", "audit"}).code, 3);
  expect_audited();
}

TEST_F(CrashOwnership, AStoppedProcessIsAliveAndFinishesWhenItGoesOn) {
  std::unique_ptr<Belay> owner = audit(0, false);
  ASSERT_TRUE(owner->waits_to_say("~ analyzeNotes"));
  owner->send(SIGSTOP);
  expect_refused(*owner);
  owner->send(SIGCONT);
  Outcome outcome = owner->finish();
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  expect_audited();
}

TEST_F(CrashOwnership, AStoppedProcessThatIsKilledIsTakenOver) {
  std::unique_ptr<Belay> owner = audit(0, false);
  ASSERT_TRUE(owner->waits_to_say("~ analyzeNotes"));
  owner->send(SIGSTOP);
  expect_refused(*owner);
  owner->send(SIGKILL);
  EXPECT_EQ(owner->finish().code, 128 + SIGKILL);
  EXPECT_EQ(run({"resume", "--all"}).code, 3);
  expect_audited();
}

TEST_F(CrashOwnership, ARetryThatWaitsSurvivesItsProcess) {
  std::unique_ptr<Belay> owner = audit(0, false);
  ASSERT_TRUE(owner->waits_to_say("~ analyzeNotes"));
  owner->send(SIGKILL);
  EXPECT_EQ(owner->finish().code, 128 + SIGKILL);
  EXPECT_EQ(failed_attempts(), 1u);
  Outcome resumed = run({"resume", "audit"});
  EXPECT_EQ(resumed.code, 3) << resumed.err;
  EXPECT_EQ(failed_attempts(), 1u);
  expect_audited();
}

TEST_F(CrashOwnership, ATakeoverThatIsKilledAgainAndAgainIsTakenOverAgain) {
  std::unique_ptr<Belay> owner = audit(4, false);
  ASSERT_TRUE(owner->waits_to_say(kPaused));
  owner->send(SIGKILL);
  owner->finish();
  for (int i = 0; i < kTakeovers; ++i) {
    Setting setting = setting_for(folder);
    pause_at(setting, 1, i % 2 == 0);
    Belay heir({"resume", "--all"}, setting);
    ASSERT_TRUE(heir.waits_to_say(kPaused));
    heir.send(SIGKILL);
    EXPECT_EQ(heir.finish().code, 128 + SIGKILL);
  }
  EXPECT_EQ(run({"resume", "--all"}).code, 3);
  expect_audited();
}

}  // namespace
}  // namespace belay::crash
