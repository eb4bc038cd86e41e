// The causes that why() makes of facts, without a store.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/why.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

// The approval's row is all that the cause is made from.
TEST(Why, NamesWhoCanDecideAndUntilWhen) {
  WaitFacts facts;
  facts.run.status = RunStatus::paused;
  facts.run.reason = "approval";
  facts.now = *instant_from("2026-11-29T12:00:00Z");
  ApprovalRow row;
  row.node = "review";
  row.question = "Send it?";
  row.roles = "editor,lawyer";
  row.expires_at = facts.now + 1h;
  facts.approvals = {row, row};
  std::vector<Cause> causes = why(facts);
  ASSERT_EQ(causes.size(), 2u);
  EXPECT_EQ(causes[0].cause, WaitCause::approval);
  EXPECT_TRUE(causes[0].is_alternative);
  EXPECT_EQ(causes[0].until, row.expires_at);
  EXPECT_THAT(causes[0].roles, ElementsAre("editor", "lawyer"));
  EXPECT_EQ(causes[0].text,
            "Waits for a decision of a person with the role \"editor\" or \"lawyer\" about node "
            "\"review\": Send it?");
  facts.now = row.expires_at;
  EXPECT_EQ(why(facts).front().cause, WaitCause::next_poll) << "a worker records the expiry";
}

TEST(Why, NamesNoTimeForAnApprovalThatNeverExpires) {
  WaitFacts facts;
  facts.run.status = RunStatus::paused;
  facts.run.reason = "approval";
  facts.now = *instant_from("2026-11-29T12:00:00Z");
  ApprovalRow row;
  row.expires_at = never_expires;
  facts.approvals = {row};
  std::vector<Cause> causes = why(facts);
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(causes[0].cause, WaitCause::approval);
  EXPECT_FALSE(causes[0].until);
}

TEST(Why, NamesASlotOfADependency) {
  WaitFacts facts;
  facts.run.status = RunStatus::running;
  facts.owner_is_alive = true;
  WaitingTask& task = facts.tasks.emplace_back();
  task.node = "send";
  task.dependency = "smtp";
  ASSERT_EQ(why(facts).size(), 1u);
  EXPECT_EQ(why(facts).front().text, "Node \"send\" waits for a slot of \"smtp\".");
}

// For every status and every combination of facts.
TEST(Why, IsTotal) {
  for (int bits = 0; bits < 1 << 10; ++bits) {
    for (RunStatus status :
         {RunStatus::queued, RunStatus::running, RunStatus::paused, RunStatus::quarantined}) {
      for (const char* reason : {"", "approval", "timer", "breakpoint"}) {
        WaitFacts facts;
        facts.run.status = status;
        facts.run.reason = reason;
        facts.now = *instant_from("2026-11-29T12:00:00Z");
        if (bits & 1) facts.run.due_at = facts.now - 1s;
        if (bits & 2) facts.run.due_at = facts.now + 1s;
        if (bits & 4) facts.approvals.emplace_back().expires_at = facts.now + 1h;
        if (bits & 8) facts.tasks.emplace_back().phase = engine::NodeTask::Phase::interrupted;
        if (bits & 16) facts.queue_is_paused = true;
        if (bits & 32) facts.has_worker = false;
        if (bits & 64) facts.code_gone = "gone";
        if (bits & 128) facts.damage = "damaged";
        if (bits & 256) facts.owner_is_alive = true;
        if (bits & 512) facts.refused_materials = "refused";
        std::vector<Cause> causes = why(facts);
        ASSERT_FALSE(causes.empty());
        EXPECT_NE(causes.front().cause, WaitCause::ended);
        for (const Cause& each : causes) EXPECT_FALSE(each.text.empty());
      }
    }
  }
}

}  // namespace
}  // namespace belay
