#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/test_world.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Kind = DecisionAnswer::Kind;

struct Decisions : TestWorld {
  RunView paused = start_mail("urgent").value();

  bool was_sent() {
    auto records = runtime->records(default_tenant(), UserId("local"));
    return block_on(loop, records->get<SentMail>(paused.row.thread.text))->has_value();
  }
};

TEST_F(Decisions, ApprovingPersistsTheDecisionAndGoesOn) {
  EXPECT_EQ(paused.row.status, RunStatus::paused);
  EXPECT_TRUE(*paused.state["awaiting"].as_bool());
  auto answer = decide(paused, approve()).value();
  EXPECT_EQ(answer.kind, Kind::won);
  EXPECT_EQ(answer.view.row.status, RunStatus::completed);
  EXPECT_EQ(answer.approval.status, ApprovalStatus::approved);
  EXPECT_EQ(answer.approval.decided_by, "ana");
  EXPECT_TRUE(*answer.view.state["approved"].as_bool());
  EXPECT_FALSE(*answer.view.state["awaiting"].as_bool());
  EXPECT_TRUE(was_sent());
}

TEST_F(Decisions, RejectingEndsWithoutTheEffect) {
  auto answer = decide(paused, reject()).value();
  EXPECT_EQ(answer.view.row.status, RunStatus::completed);
  EXPECT_EQ(answer.view.row.outcome, "rejected");
  EXPECT_EQ(answer.view.row.node, "end");
  EXPECT_FALSE(was_sent());
}

TEST_F(Decisions, TheSameDecisionAgainChangesNothing) {
  auto first = decide(paused, approve("ana")).value();
  Decision again = approve("ben");
  again.comment = "me too";
  auto second = decide(paused, again).value();
  EXPECT_EQ(second.kind, Kind::same);
  EXPECT_EQ(second.view.row, first.view.row);
  EXPECT_EQ(second.approval.decided_by, "ana");
}

TEST_F(Decisions, ADifferentDecisionIsToldTheWinner) {
  decide(paused, approve()).value();
  auto other = decide(paused, reject("ben")).value();
  EXPECT_EQ(other.kind, Kind::lost);
  EXPECT_EQ(other.approval.status, ApprovalStatus::approved);
  Decision edited = approve("ben");
  edited.edited = Value("Dear nobody");
  EXPECT_EQ(decide(paused, edited)->kind, Kind::lost);
}

TEST_F(Decisions, AnEditThatChangesNothingIsNoEdit) {
  Decision edited = approve();
  edited.edited = Value("Dear urgent");
  EXPECT_EQ(decide(paused, edited)->kind, Kind::won);
  EXPECT_EQ(decide(paused, approve())->kind, Kind::same);
}

TEST_F(Decisions, AnEditIsSavedAndSent) {
  Decision edited = approve();
  edited.edited = Value("Dear edited");
  auto answer = decide(paused, edited).value();
  EXPECT_EQ(*answer.view.state["draft"].as_string(), "Dear edited");
  EXPECT_EQ(decide(paused, edited)->kind, Kind::same);
  EXPECT_EQ(decide(paused, approve())->kind, Kind::lost);
}

TEST_F(Decisions, AnEditThatDoesNotFitIsRefusedAndTheQuestionStaysOpen) {
  Decision edited = approve();
  edited.edited = Value(42);
  auto refused = decide(paused, edited);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("does not fit"));
  EXPECT_EQ(decide(paused, approve())->kind, Kind::won);
}

TEST_F(Decisions, ARejectionTakesNoEditAndADeciderNeedsAName) {
  Decision edited = reject();
  edited.edited = Value("x");
  EXPECT_EQ(decide(paused, edited).error().code, ErrorCode::invalid);
  EXPECT_EQ(decide(paused, approve("")).error().code, ErrorCode::invalid);
}

TEST_F(Decisions, ALateDecisionPerformsTheExpiryItself) {
  clock.move(24h);
  auto late = decide(paused, approve()).value();
  EXPECT_EQ(late.kind, Kind::expired);
  EXPECT_EQ(late.approval.status, ApprovalStatus::expired);
  EXPECT_EQ(late.view.row.status, RunStatus::completed);
  EXPECT_EQ(late.view.row.outcome, "expired");
  EXPECT_EQ(decide(paused, approve())->kind, Kind::expired);
  EXPECT_FALSE(was_sent());
}

TEST_F(Decisions, ADecisionInTheLastMomentCounts) {
  clock.move(24h - 1ms);
  EXPECT_EQ(decide(paused, approve())->kind, Kind::won);
}

TEST_F(Decisions, WhatIsDueIsAppliedOnce) {
  EXPECT_EQ(*block_on(loop, runtime->apply_due(default_tenant())), 0u);
  clock.move(25h);
  EXPECT_EQ(*block_on(loop, runtime->apply_due(default_tenant())), 1u);
  EXPECT_EQ(*block_on(loop, runtime->apply_due(default_tenant())), 0u);
  auto view = block_on(loop, runtime->status(default_tenant(), paused.row.thread)).value();
  EXPECT_EQ(view.row.outcome, "expired");
}

TEST_F(Decisions, ACancelledRunsApprovalIsClosed) {
  auto cancelled = block_on(loop, runtime->cancel(default_tenant(), paused.row.thread, "ana"));
  EXPECT_EQ(cancelled->row.status, RunStatus::cancelled);
  EXPECT_FALSE(*cancelled->state["awaiting"].as_bool());
  auto answer = decide(paused, approve()).value();
  EXPECT_EQ(answer.kind, Kind::closed);
  EXPECT_FALSE(was_sent());
}

TEST_F(Decisions, AnUnknownApprovalSaysSo) {
  auto missing =
      block_on(loop, runtime->decide(default_tenant(), InterruptId(derived_uuid("x")), approve()));
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
}

TEST_F(Decisions, OnlyARoleThatMayDecideMay) {
  GraphBuilder<Mail> builder{"guarded"};
  builder.approval("ask", &Mail::draft, {.question = "?", .roles = {"lead", "boss"}})
      .approved(end)
      .rejected(end);
  builder.edge(start, "ask");
  auto guarded = std::move(builder).build().value();
  runtime->add(guarded);
  auto waiting = block_on(loop, runtime->start(guarded, Mail{}, StartOptions{})).value();
  Decision decision = approve();
  decision.roles = {"boss2"};
  EXPECT_EQ(decide(waiting, decision).error().code, ErrorCode::invalid);
  decision.roles = {"other", "boss"};
  EXPECT_EQ(decide(waiting, decision)->kind, Kind::won);
}

TEST_F(Decisions, OfManyAtOnceExactlyOneWins) {
  std::vector<Spawned> deciding;
  std::map<Kind, int> kinds;
  std::vector<std::unique_ptr<Runtime>> processes;
  for (int i = 0; i < 64; ++i) {
    processes.push_back(process());
    Decision decision = i % 2 ? approve("p" + std::to_string(i)) : reject("p" + std::to_string(i));
    deciding.push_back(spawn<Result<DecisionAnswer>>(
        loop, processes.back()->decide(default_tenant(), paused.approval->interrupt, decision),
        [&](Result<DecisionAnswer> answer) { ++kinds[answer.value().kind]; }));
  }
  loop.run();
  EXPECT_EQ(kinds[Kind::won], 1);
  EXPECT_EQ(kinds[Kind::same], 31);
  EXPECT_EQ(kinds[Kind::lost], 32);
}

}  // namespace
}  // namespace belay
