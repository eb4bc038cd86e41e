// Kills the real binary at every commit of a scenario and between commits, and expects no loss.

#include "tests/crash/campaign.h"

#include <gtest/gtest.h>

#include <iostream>

#include "belay/testing.h"
#include "tests/crash/store_files.h"

namespace belay::crash {
namespace {

constexpr std::size_t kKillsMin = kSanitized ? 30 : 80;
// More than are needed: on a busy machine some kills arrive after the process has ended.
constexpr std::size_t kBetween = kSanitized ? 16 : 40;

class CrashCampaign : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = Baseline::make();
    ASSERT_TRUE(made.ok()) << made.error().message;
    baseline = *std::move(made);
  }
  std::unique_ptr<Baseline> baseline;
};

TEST_F(CrashCampaign, TheScenarioHasARetryAnApprovalAndASaving) {
  const std::string& outcome = baseline->at_end().outcome;
  for (const char* part :
       {"attempt analyzeNotes", "decision awaitingApproval", "approved by ana (as I remember it)",
        "approved by ben", "daily_summaries 1910-02-06", "routines 1910-02-07"}) {
    EXPECT_NE(outcome.find(part), outcome.npos) << part << " in\n" << outcome;
  }
  EXPECT_EQ(baseline->at_end().failed_attempts, 1u);
  std::string end = baseline->folder_before(baseline->steps().size());
  EXPECT_EQ(judge(end, baseline->at_end(), {}, baseline->at_end()), std::vector<std::string>());
}

// If a step made more commits than the baseline counted, the campaign would omit the additional
// ones.
TEST_F(CrashCampaign, EveryCommitOfEveryStepIsKnown) {
  for (std::size_t i = 0; i < baseline->steps().size(); ++i) {
    const Step& step = baseline->steps()[i];
    std::string folder = baseline->folder() + "/beyond-" + std::to_string(i);
    copy_store(baseline->folder_before(i), folder);
    Setting setting = setting_for(folder);
    if (step.model_fails) make_model_fail(setting);
    pause_at(setting, baseline->commits_of(i) + 1, false);
    Belay process(step.words, setting);
    EXPECT_FALSE(process.waits_to_say(kPaused)) << step.name << " commits more than it should";
    EXPECT_EQ(process.finish().code, step.code) << step.name;
  }
}

TEST_F(CrashCampaign, NoKillLosesOrRepeatsAnything) {
  std::uint64_t seed = chosen_seed();
  testing::SeededRandom random(seed);
  std::vector<Fate> fates = between_commits(*baseline, kBetween, random);
  std::vector<Fate> at_commits = at_every_commit(*baseline);
  std::vector<Fate> takeovers = at_every_takeover(*baseline, random);
  std::size_t stride = kSanitized ? 5 : 1;
  for (std::size_t i = 0; i < at_commits.size(); i += stride) fates.push_back(at_commits[i]);
  for (std::size_t i = 0; i < takeovers.size(); i += stride) fates.push_back(takeovers[i]);
  Campaign campaign = run_campaign(*baseline, fates, seed);
  for (const std::string& loss : campaign.losses) ADD_FAILURE() << loss;
  std::cout << campaign.evidence(*baseline) << std::endl;
  EXPECT_GE(campaign.kill_count(), kKillsMin);
}

}  // namespace
}  // namespace belay::crash
