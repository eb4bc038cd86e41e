// The approval flow: the effects of a decision, their order, and that they happen once.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

#include "tests/support/wellbeing_fixture.h"

namespace belay::wellbeing {
namespace {

using testing::audit_text;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kToday;
using testing::kTomorrow;
using testing::schedule_text;
using testing::WellbeingFixture;

// Returns the thread of an audit that waits for a decision.
std::string paused_audit(WellbeingFixture& world, std::string thread = "") {
  world.add_note(kToday, "A hard day.");
  world.model.replies(audit_text(7));
  GraphConfig config;
  config.threadId = std::move(thread);
  const auto result = world.audit(kToday, std::move(config)).value();
  EXPECT_EQ(result.status, "paused");
  return result.threadId;
}

std::string paused_routine(WellbeingFixture& world) {
  world.model.replies(schedule_text());
  const auto result = world.plan(kTomorrow).value();
  EXPECT_EQ(result.status, "paused");
  EXPECT_EQ(result.base.currentNode, "awaitingApproval");
  return result.threadId;
}

TEST(ApprovalFlow, AnApprovedAuditCompletesAndIsSaved) {
  WellbeingFixture world;
  const std::string thread = paused_audit(world);
  const auto result = world.decide_audit(thread, true).value();
  EXPECT_TRUE(result.success);
  EXPECT_EQ(result.status, "completed");
  EXPECT_EQ(result.outcome, "saved");
  EXPECT_EQ(result.base.currentNode, "end");
  EXPECT_TRUE(result.state.approved);
  EXPECT_FALSE(result.state.requiresApproval);
  EXPECT_TRUE(world.saved<DailySummary>(kToday).has_value());
  EXPECT_EQ(world.model.requests().size(), 1u) << "nothing before the question ran again";
}

TEST(ApprovalFlow, ARejectedAuditCompletesAndIsNotSaved) {
  WellbeingFixture world;
  const std::string thread = paused_audit(world);
  const auto result = world.decide_audit(thread, false).value();
  EXPECT_TRUE(result.success);
  EXPECT_EQ(result.status, "completed");
  EXPECT_EQ(result.outcome, "rejected");
  EXPECT_EQ(result.base.currentNode, "end");
  EXPECT_FALSE(result.state.approved);
  EXPECT_FALSE(world.saved<DailySummary>(kToday).has_value());
}

TEST(ApprovalFlow, AnApprovedRoutineCompletesAndIsSaved) {
  WellbeingFixture world;
  const std::string thread = paused_routine(world);
  const auto result = world.decide_plan(thread, true).value();
  EXPECT_EQ(result.status, "completed");
  EXPECT_EQ(result.outcome, "saved");
  EXPECT_TRUE(result.state.approved);
  EXPECT_TRUE(world.saved<Routine>(kTomorrow).has_value());
}

TEST(ApprovalFlow, ARejectedRoutineCompletesAndIsNotSaved) {
  WellbeingFixture world;
  const std::string thread = paused_routine(world);
  const auto result = world.decide_plan(thread, false).value();
  EXPECT_EQ(result.status, "completed");
  EXPECT_EQ(result.outcome, "rejected");
  EXPECT_FALSE(world.saved<Routine>(kTomorrow).has_value());
}

TEST(ApprovalFlow, TheDecisionIsACheckpointBeforeAnyNodeRuns) {
  WellbeingFixture world;
  const std::string thread = paused_audit(world);
  const auto before = world.history(thread);
  EXPECT_EQ(before.back().kind, CommitKind::pause);
  ASSERT_TRUE(world.decide_audit(thread, true).ok());
  const auto after = world.history(thread);
  ASSERT_EQ(after.size(), before.size() + 2);
  EXPECT_EQ(after[before.size()].kind, CommitKind::decision);
  EXPECT_EQ(after[before.size()].status, RunStatus::running);
  EXPECT_EQ(after.back().node, "saveSummary");
  EXPECT_EQ(after.back().status, RunStatus::completed);
  const auto decided = world.wait(
      world.runtime->status_at(default_tenant(), ThreadId(thread), after[before.size()].seq));
  EXPECT_EQ(decided->state["approved"], Value(true));
}

TEST(ApprovalFlow, ACheckpointOfTheDecisionIsLoadedAfterARestart) {
  for (const bool approved : {true, false}) {
    WellbeingFixture world;
    const std::string thread = paused_audit(world);
    world.reopen();
    const auto result = world.decide_audit(thread, approved).value();
    EXPECT_EQ(result.status, "completed");
    world.reopen();
    auto agent = world.auditor();
    const auto status = world.wait(agent.getStatus(thread)).value();
    EXPECT_EQ(status.status, "completed");
    EXPECT_EQ(status.state.approved, approved);
    EXPECT_EQ(world.saved<DailySummary>(kToday).has_value(), approved);
  }
}

TEST(ApprovalFlow, TheSameDecisionAgainReturnsTheStateAsItIs) {
  EXPECT_TRUE(
      rc::check("resuming twice with the same input gives the same state", [](bool approved) {
        WellbeingFixture world;
        const std::string thread = paused_audit(world);
        const auto first = world.decide_audit(thread, approved).value();
        const auto commits = world.store.commits();
        const auto second = world.decide_audit(thread, approved).value();
        RC_ASSERT(to_json(first.json) == to_json(second.json));
        RC_ASSERT(world.store.commits() == commits);
      }));
}

TEST(ApprovalFlow, ADifferentDecisionIsAConflictThatNamesTheWinner) {
  WellbeingFixture world;
  const std::string thread = paused_audit(world);
  ASSERT_TRUE(world.decide_audit(thread, true).ok());
  const auto second = world.decide_audit(thread, false);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::conflict);
  EXPECT_THAT(second.error().message, HasSubstr("approved before, by local"));
  EXPECT_TRUE(world.saved<DailySummary>(kToday).has_value());
}

TEST(ApprovalFlow, ADecisionWithoutAVerdictChangesNothing) {
  WellbeingFixture world;
  const std::string thread = paused_audit(world);
  auto agent = world.auditor();
  const auto result = world.wait(agent.resume(thread, ResumeInput()));
  EXPECT_EQ(result.error().code, ErrorCode::invalid);
  EXPECT_EQ(world.wait(agent.getStatus(thread))->status, "paused");
}

TEST(ApprovalFlow, AnUnknownThreadIsNotFoundOrExpired) {
  WellbeingFixture world;
  const auto result = world.decide_audit("no-such-thread", true);
  EXPECT_EQ(result.error().code, ErrorCode::not_found);
  EXPECT_EQ(result.error().message, "Execution thread not found or expired");
  auto agent = world.auditor();
  EXPECT_EQ(world.wait(agent.getStatus("no-such-thread")).error().message,
            "Execution thread not found or expired");
  EXPECT_EQ(world.wait(agent.cancel("no-such-thread")).error().code, ErrorCode::not_found);
}

TEST(ApprovalFlow, AThreadOfAnotherAgentIsNotFound) {
  WellbeingFixture world;
  const std::string thread = paused_audit(world);
  EXPECT_EQ(world.decide_plan(thread, true).error().code, ErrorCode::not_found);
}

TEST(ApprovalFlow, ACompletedExecutionThatNeverAskedIsAConflict) {
  WellbeingFixture world;
  world.add_note(kToday, "A calm day.");
  world.model.replies(audit_text(2));
  const auto done = world.audit(kToday).value();
  const auto result = world.decide_audit(done.threadId, true);
  EXPECT_EQ(result.error().code, ErrorCode::conflict);
  EXPECT_THAT(result.error().message, HasSubstr("completed"));
}

TEST(ApprovalFlow, AFailedExecutionDoesNotWaitForADecision) {
  WellbeingFixture world;
  world.add_note(kToday, "A day.");
  world.model.fails(error(ErrorCode::invalid, "No such model."));
  const auto failed = world.audit(kToday).value();
  ASSERT_EQ(failed.status, "failed");
  const auto result = world.decide_audit(failed.threadId, true);
  EXPECT_EQ(result.error().code, ErrorCode::conflict);
  EXPECT_THAT(result.error().message, HasSubstr("at analyzeNotes"));
}

TEST(ApprovalFlow, ALateDecisionFindsTheApprovalExpired) {
  WellbeingFixture world;
  const std::string thread = paused_audit(world);
  world.clock.move(std::chrono::hours(24));
  const auto result = world.decide_audit(thread, true);
  EXPECT_EQ(result.error().code, ErrorCode::conflict);
  EXPECT_THAT(result.error().message, HasSubstr("expired"));
  auto agent = world.auditor();
  const auto status = world.wait(agent.getStatus(thread)).value();
  EXPECT_EQ(status.status, "completed");
  EXPECT_EQ(world.runs(thread).front().outcome, "expired");
  EXPECT_FALSE(status.state.approved);
  EXPECT_FALSE(world.saved<DailySummary>(kToday).has_value());
}

TEST(ApprovalFlow, ACancelledExecutionTakesNoDecision) {
  WellbeingFixture world;
  const std::string thread = paused_audit(world);
  auto agent = world.auditor();
  ASSERT_TRUE(world.wait(agent.cancel(thread)).ok());
  ASSERT_TRUE(world.wait(agent.cancel(thread)).ok()) << "again changes nothing";
  const auto status = world.wait(agent.getStatus(thread)).value();
  EXPECT_EQ(status.status, "cancelled");
  EXPECT_FALSE(status.state.requiresApproval);
  EXPECT_EQ(world.decide_audit(thread, true).error().code, ErrorCode::conflict);
  EXPECT_FALSE(world.saved<DailySummary>(kToday).has_value());
}

TEST(ApprovalFlow, APersonMayEditWhatIsSaved) {
  WellbeingFixture world;
  const std::string thread = paused_audit(world);
  auto agent = world.auditor();
  auto status = world.wait(agent.getStatus(thread)).value();
  Value edited = status.json["state"]["analysis"];
  (*edited.as_object())["riskLevel"] = 4;
  ResumeInput input;
  input.approved = true;
  input.edited = edited;
  const auto result = world.wait(agent.resume(thread, std::move(input))).value();
  EXPECT_EQ(result.outcome, "saved");
  EXPECT_EQ(world.saved<DailySummary>(kToday)->riskLevel, 4);
}

TEST(ApprovalFlow, ConcurrentDecisionsOfOneThreadHaveOneWinner) {
  WellbeingFixture world;
  const std::string thread = paused_audit(world);
  auto agent = world.auditor();
  std::vector<std::optional<Result<GraphExecutionResult<Audit>>>> answers(8);
  std::vector<Spawned> running;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    ResumeInput input;
    input.approved = i % 2 == 0;
    std::function<void(Result<GraphExecutionResult<Audit>>)> done =
        [&answers, i](Result<GraphExecutionResult<Audit>> answer) {
          answers[i].emplace(std::move(answer));
        };
    running.push_back(spawn<Result<GraphExecutionResult<Audit>>>(
        world.loop, agent.resume(thread, std::move(input)), std::move(done)));
  }
  world.loop.run();
  int refused = 0;
  for (const auto& answer : answers) {
    ASSERT_TRUE(answer.has_value());
    if (!answer->ok()) ++refused;
  }
  EXPECT_EQ(refused, 4) << "the losers are told who won";
  EXPECT_EQ(world.saved<DailySummary>(kToday).has_value(),
            world.wait(agent.getStatus(thread))->state.approved);
}

TEST(ApprovalFlow, AnyDayAndDecisionCompletes) {
  EXPECT_TRUE(rc::check("start, pause, decide: completed, and saved exactly when approved", [] {
    const bool approved = *rc::gen::arbitrary<bool>();
    const int risk = *rc::gen::inRange(7, 11);
    const int day = *rc::gen::inRange(10, 29);
    const int restarts = *rc::gen::inRange(0, 3);
    const auto wait = std::chrono::minutes(*rc::gen::inRange(0, 24 * 60));
    const std::string date = "2024-02-" + std::to_string(day);
    WellbeingFixture world;
    world.add_note(date, "A hard day.");
    world.model.replies(audit_text(risk));
    const auto paused = world.audit(date).value();
    const std::size_t before = world.history(paused.threadId).size();
    for (int i = 0; i < restarts; ++i) world.reopen();
    world.clock.move(wait);
    const auto result = world.decide_audit(paused.threadId, approved).value();
    RC_ASSERT(result.status == "completed");
    RC_ASSERT(result.state.approved == approved);
    RC_ASSERT(world.saved<DailySummary>(date).has_value() == approved);
    // The history has new checkpoints, and the run refers to the newest one.
    const auto history = world.history(paused.threadId);
    RC_ASSERT(history.size() > before);
    RC_ASSERT(world.runs(paused.threadId).front().checkpoint == history.back().id);
    RC_ASSERT(world.violations() == "");
  }));
}

}  // namespace
}  // namespace belay::wellbeing
