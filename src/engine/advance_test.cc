// Tests advance() event by event, without a store or a driver.
// Long on purpose: many short tests of one function.

#include "engine/advance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/checkpoint.h"
#include "engine/next_task.h"
#include "engine/run_factory.h"

namespace belay::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct Mail {
  std::string topic{};
  std::string draft{};
  int drafts = 0;
  bool awaiting = false;
  bool approved = false;
};

Update<Mail> pass(const Mail&, Context&) { return unchanged<Mail>(); }

Graph<Mail> mail_graph() {
  GraphBuilder<Mail> graph{"mail"};
  graph.node("write", pass).retry({.attempts = 3, .base = 1s, .cap = 10s});
  graph.approval("review", &Mail::draft, {.question = "Send?", .expires = 24h, .roles = {"boss"}})
      .approved("send")
      .rejected(end)
      .when([](const Mail& mail) {
        if (mail.draft == "explode") throw std::runtime_error("boom");
        return mail.draft != "dull";
      })
      .pending_flag(&Mail::awaiting)
      .decision_flag(&Mail::approved);
  graph.node("send", pass);
  graph.edge(start, "write").edge("write", "review").edge("send", end);
  return std::move(graph).build().value();
}

Instant at(int seconds) {
  return *instant_from("2026-11-21T12:00:00Z") + std::chrono::seconds(seconds);
}
Moment moment(int seconds) { return Moment{at(seconds), 1000u + static_cast<unsigned>(seconds)}; }

// Passes events to one run, one at a time, and keeps the actions of the last one.
struct Stepping : ::testing::Test {
  Graph<Mail> graph = mail_graph();
  engine::Run run = fresh({});
  std::vector<Action> actions;

  engine::Run fresh(RunOptions options) {
    RunRow row;
    row.tenant = default_tenant();
    row.run = RunId(derived_uuid("run"));
    row.thread = ThreadId("t");
    row.user = UserId("u");
    row.session = SessionId(derived_uuid("session"));
    auto input = std::make_shared<Mail>();
    input->topic = "outage";
    return new_run(*graph.definition(), row, std::move(options), input).value();
  }

  void happens(Event event) {
    auto next = advance(*graph.definition(), std::move(run), std::move(event));
    run = std::move(next.run);
    actions = std::move(next.actions);
  }

  Commit commit() {
    for (Action& action : actions) {
      if (auto* write = std::get_if<WriteCommit>(&action)) return *write->commit;
    }
    ADD_FAILURE() << "no commit";
    return {};
  }

  // The attempt of the run's only task.
  AttemptId attempt() const {
    const NodeTask& task = run.tasks.front();
    return {{}, 0, task.id, task.attempt};
  }
  AttemptId attempt(int number) const { return {{}, 0, run.tasks.front().id, number}; }
  NodeEnded ended(int seconds, Update<Mail> update, std::string outcome = "") {
    NodeEnded event;
    event.moment = moment(seconds);
    event.of = attempt();
    event.answer = std::move(update).take_update();
    event.effects.outcome = std::move(outcome);
    return event;
  }
  NodeFailed failed(int seconds, Error why) {
    return {moment(seconds), attempt(), std::move(why), {}};
  }
  Error busy() { return error(ErrorCode::unavailable, "The model is busy."); }

  void begin() {
    happens(Started{moment(0)});
    happens(Committed{moment(0)});
  }
  ApprovalRow pause() {
    begin();
    happens(ended(1, set(&Mail::draft, "Dear all")));
    happens(Committed{moment(1)});
    return commit().rows.opened.at(0);
  }
  Decided decided(ApprovalRow approval, Decided::Verdict verdict) {
    Decided event;
    event.moment = moment(60);
    event.session = SessionId(derived_uuid("other session"));
    event.approval = std::move(approval);
    event.verdict = verdict;
    event.decided_by = "ana";
    return event;
  }
};

TEST_F(Stepping, BeginningCommitsTheInputAndTheFirstTask) {
  happens(Started{moment(0)});
  Commit first = commit();
  EXPECT_EQ(first.run_guard->seq, 0u);
  EXPECT_EQ(first.run_guard->epoch, 0u);
  EXPECT_TRUE(first.rows.thread);
  EXPECT_EQ(first.rows.run->seq, 1u);
  EXPECT_EQ(first.rows.run->epoch, 1u);
  EXPECT_EQ(first.rows.run->status, RunStatus::running);
  EXPECT_EQ(first.rows.run->node, "write");
  EXPECT_EQ(*json_in_envelope(first.rows.run->input), R"({"topic":"outage"})");
  EXPECT_EQ(first.rows.checkpoint->next_tasks, R"([{"node":"write","superstep":1}])");
  EXPECT_TRUE(first.rows.checkpoint->parent.is_null());
  EXPECT_TRUE(first.rows.values.empty());
}

TEST_F(Stepping, ANodeStartsOnlyOnceItsPlanIsDurable) {
  happens(Started{moment(0)});
  ASSERT_EQ(actions.size(), 1u);
  happens(Committed{moment(0)});
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(std::get<StartNode>(actions[0]).node->name, "write");
}

TEST_F(Stepping, ALinearStepIsOneCommitThatHoldsOnlyWhatChanged) {
  begin();
  happens(ended(1, set(&Mail::draft, "Dear all")));
  Commit step = commit();
  EXPECT_EQ(actions.size(), 1u);
  EXPECT_EQ(step.run_guard->seq, 1u);
  ASSERT_EQ(step.rows.values.size(), 1u);
  EXPECT_EQ(step.rows.values[0].channel, "draft");
  EXPECT_EQ(*json_in_envelope(step.rows.values[0].envelope), R"("Dear all")");
  EXPECT_EQ(step.rows.checkpoint->node, "write");
  EXPECT_EQ(step.rows.run->node, "review");
  EXPECT_EQ(step.rows.run->worked_ms, 1000);
}

TEST_F(Stepping, AnInterruptIsItsOwnCommittedStep) {
  ApprovalRow approval = pause();
  Commit step = commit();
  EXPECT_EQ(step.run_guard->seq, 2u);
  EXPECT_EQ(step.rows.run->status, RunStatus::paused);
  EXPECT_EQ(step.rows.run->reason, "approval");
  EXPECT_TRUE(step.rows.run->session.is_null());
  EXPECT_EQ(approval.payload_hash, sha256(R"("Dear all")"));
  EXPECT_EQ(approval.expires_at, at(1) + 24h);
  EXPECT_EQ(approval.roles, "boss");
  ASSERT_EQ(step.rows.values.size(), 1u);
  EXPECT_EQ(step.rows.values[0].channel, "awaiting");
  happens(Committed{moment(1)});
  EXPECT_TRUE(std::holds_alternative<Stop>(actions.at(0)));
}

TEST_F(Stepping, AnApprovalThatNeedNotAskIsPassedInTheStepBeforeIt) {
  begin();
  happens(ended(1, set(&Mail::draft, "dull")));
  EXPECT_EQ(commit().rows.run->node, "send");
  run = fresh(RunOptions{.require_approval = false});
  begin();
  happens(ended(1, set(&Mail::draft, "Dear all")));
  EXPECT_EQ(commit().rows.run->node, "send");
}

TEST_F(Stepping, ApprovedGoesOnWithTheEditedPayload) {
  auto event = decided(pause(), Decided::Verdict::approved);
  happens(Committed{moment(1)});
  event.edited = Value("Dear both");
  happens(event);
  Commit step = commit();
  EXPECT_EQ(step.rows.checkpoint->kind, CommitKind::decision);
  EXPECT_EQ(step.approval_guard->interrupt, event.approval.interrupt);
  EXPECT_EQ(step.approval_guard->expiry, ApprovalGuard::Expiry::ahead);
  EXPECT_EQ(step.rows.decided->status, ApprovalStatus::approved);
  EXPECT_EQ(*json_in_envelope(step.rows.decided->edited), R"("Dear both")");
  EXPECT_EQ(step.rows.run->status, RunStatus::running);
  EXPECT_EQ(step.rows.run->epoch, 2u);
  EXPECT_EQ(step.run_guard->epoch, 1u);
  EXPECT_EQ(step.rows.run->session, event.session);
  std::vector<std::string> changed;
  for (const ValueRow& value : step.rows.values) changed.push_back(value.channel);
  EXPECT_THAT(changed, ::testing::UnorderedElementsAre("approved", "awaiting", "draft"));
  happens(Committed{moment(61)});
  EXPECT_EQ(std::get<StartNode>(actions.at(0)).node->name, "send");
}

TEST_F(Stepping, RejectedAndExpiredEndWithoutTheEffect) {
  auto approval = pause();
  engine::Run paused = run;
  happens(decided(approval, Decided::Verdict::rejected));
  EXPECT_EQ(commit().rows.run->status, RunStatus::completed);
  EXPECT_EQ(commit().rows.run->outcome, "rejected");
  EXPECT_EQ(commit().rows.run->node, "end");
  run = paused;
  happens(decided(approval, Decided::Verdict::expired));
  EXPECT_EQ(commit().rows.run->outcome, "expired");
  EXPECT_EQ(commit().rows.checkpoint->kind, CommitKind::expiry);
  EXPECT_EQ(commit().approval_guard->expiry, ApprovalGuard::Expiry::passed);
}

TEST_F(Stepping, TimeSpentWaitingForAPersonIsNotWork) {
  auto event = decided(pause(), Decided::Verdict::approved);
  event.moment = Moment{at(1) + 23h, 5};
  happens(event);
  EXPECT_EQ(run.row.worked_ms, 1000);
}

TEST_F(Stepping, AFailedAttemptIsCommittedBeforeItsWait) {
  begin();
  happens(failed(1, busy()));
  Commit step = commit();
  EXPECT_EQ(actions.size(), 1u);
  EXPECT_EQ(step.rows.checkpoint->kind, CommitKind::attempt);
  EXPECT_EQ(step.rows.run->retry_count, 1);
  happens(Committed{moment(1)});
  auto wait = std::get<WaitForTask>(actions.at(0));
  EXPECT_EQ(wait.attempt.attempt, 2);
  EXPECT_GE(wait.due - at(1), 1600ms);  // 2^1 s, -20 %
  EXPECT_LE(wait.due - at(1), 2400ms);
  TaskId visit = run.tasks.front().id;
  happens(TaskDue{moment(9), attempt(2)});
  EXPECT_EQ(std::get<StartNode>(actions.at(0)).attempt.attempt, 2);
  EXPECT_EQ(run.tasks.front().id, visit);
}

TEST_F(Stepping, TheWaitGrowsAndIsCappedAndObeysRetryAfter) {
  begin();
  happens(failed(1, busy()));
  happens(Committed{moment(1)});
  happens(TaskDue{moment(9), attempt(2)});
  Error overloaded = busy();
  overloaded.retry_after = 60s;
  happens(failed(10, overloaded));
  happens(Committed{moment(10)});
  EXPECT_EQ(std::get<WaitForTask>(actions.at(0)).due - at(10), 60s);
}

TEST_F(Stepping, TheLastAttemptFailsTheRunWithItsError) {
  begin();
  for (int attempt = 1; attempt <= 3; ++attempt) {
    happens(failed(attempt, busy()));
    if (attempt == 3) break;
    happens(Committed{moment(attempt)});
    happens(TaskDue{moment(9), this->attempt(attempt + 1)});
  }
  EXPECT_EQ(commit().rows.run->status, RunStatus::failed);
  EXPECT_EQ(commit().rows.run->error, "The model is busy.");
  EXPECT_EQ(commit().rows.run->error_code, "unavailable");
  EXPECT_EQ(commit().rows.run->node, "write");
  EXPECT_EQ(run.row.retry_count, 3);
}

TEST_F(Stepping, MaxRetriesOfTheRunReplacesThePolicysNumber) {
  run = fresh(RunOptions{.max_retries = 1});
  begin();
  happens(failed(1, busy()));
  EXPECT_EQ(run.row.status, RunStatus::failed);
}

TEST_F(Stepping, AnErrorThatRepeatingCantMendFailsAtOnce) {
  begin();
  happens(failed(1, error(ErrorCode::invalid, "No.")));
  EXPECT_EQ(run.row.status, RunStatus::failed);
}

TEST_F(Stepping, ARunThatWorksTooLongFails) {
  begin();
  happens(RunTimedOut{moment(301)});
  EXPECT_EQ(run.row.status, RunStatus::failed);
  EXPECT_EQ(run.row.error_code, "exhausted");
  run = fresh(RunOptions{.timeout = 1500ms});
  begin();
  happens(ended(2, set(&Mail::draft, "slow")));
  happens(Committed{moment(2)});
  EXPECT_EQ(run.row.status, RunStatus::failed);
}

TEST_F(Stepping, WhatTheGraphThrowsIsATypedFailure) {
  begin();
  happens(ended(1, set(&Mail::draft, "explode")));
  EXPECT_EQ(run.row.status, RunStatus::failed);
  EXPECT_EQ(run.row.error_code, "invalid");
  EXPECT_THAT(run.row.error, HasSubstr("boom"));
  EXPECT_TRUE(commit().rows.values.empty());
}

TEST_F(Stepping, WhatJsonCantSayFailsTheRunAndSavesNothing) {
  begin();
  happens(ended(1, set(&Mail::draft, std::string("\xff\xfe"))));
  EXPECT_EQ(run.row.status, RunStatus::failed);
  EXPECT_THAT(run.row.error, HasSubstr("\"draft\" cannot be saved"));
  Commit step = commit();
  EXPECT_TRUE(step.rows.values.empty());
  EXPECT_EQ(step.run_guard->seq, 1u);
  EXPECT_EQ(step.rows.run->seq, 2u);
  EXPECT_EQ(step.rows.run->node, "write");
}

TEST_F(Stepping, CancelEndsTheRunAndFencesItsWorker) {
  begin();
  NodeEnded late = ended(5, set(&Mail::draft, "too late"));
  happens(Cancelled{moment(2), "ana"});
  Commit step = commit();
  EXPECT_EQ(step.rows.run->status, RunStatus::cancelled);
  EXPECT_EQ(step.rows.run->epoch, 2u);
  EXPECT_EQ(step.run_guard->epoch, 1u);
  EXPECT_TRUE(step.rows.ends_run);
  happens(late);
  EXPECT_TRUE(actions.empty());
  EXPECT_EQ(run.row.seq, step.rows.run->seq);
}

TEST_F(Stepping, EventsThatNoLongerApplyChangeNothing) {
  auto approval = pause();
  happens(Committed{moment(1)});
  engine::Run paused = run;
  TaskId other(derived_uuid("another task"));
  std::vector<Event> stale;
  stale.push_back(NodeEnded{moment(9), {{}, 0, other, 1}, {}, {}, false});
  stale.push_back(NodeFailed{moment(9), attempt(1), busy(), {}});
  stale.push_back(NodeInterrupted{moment(9), attempt(1), {}, {}});
  stale.push_back(TaskDue{moment(9), attempt(1)});
  stale.push_back(RunTimedOut{moment(9)});
  ApprovalRow another = approval;
  another.interrupt = InterruptId(derived_uuid("another question"));
  stale.push_back(decided(another, Decided::Verdict::approved));
  for (Event& event : stale) {
    happens(std::move(event));
    EXPECT_TRUE(actions.empty());
    EXPECT_EQ(run.row, paused.row);
    EXPECT_EQ(run.chain_hash, paused.chain_hash);
  }
}

TEST_F(Stepping, TheSameEventsGiveTheSameCommits) {
  std::vector<Digest> chains;
  std::vector<CheckpointId> ids;
  for (int round = 0; round < 2; ++round) {
    run = fresh({});
    pause();
    chains.push_back(run.chain_hash);
    ids.push_back(run.row.checkpoint);
  }
  EXPECT_EQ(chains[0], chains[1]);
  EXPECT_EQ(ids[0], ids[1]);
}

TEST_F(Stepping, CheckpointIdsGrowEvenWhenTheClockGoesBack) {
  begin();
  CheckpointId first = run.row.checkpoint;
  happens(ended(-3600, set(&Mail::draft, "Dear all")));
  EXPECT_LT(first, run.row.checkpoint);
  EXPECT_EQ(run.row.updated_at, at(0));
  EXPECT_EQ(run.row.worked_ms, 0);
}

TEST_F(Stepping, ATakeOverRaisesTheEpochAndRepeatsOnlyWhatWasNotCommitted) {
  begin();
  happens(Claimed{moment(9), SessionId(derived_uuid("second"))});
  Commit claim = commit();
  EXPECT_EQ(claim.rows.checkpoint->kind, CommitKind::claim);
  EXPECT_EQ(claim.run_guard->epoch, 1u);
  EXPECT_EQ(claim.rows.run->epoch, 2u);
  happens(Committed{moment(9)});
  EXPECT_EQ(std::get<StartNode>(actions.at(0)).node->name, "write");
}

TEST_F(Stepping, AQuestionInANodesMiddleIsAnsweredByNameAndPayload) {
  begin();
  InterruptRequest question;
  question.name = "amount";
  question.text = "So much?";
  question.payload = Value(100);
  happens(NodeInterrupted{moment(1), attempt(1), question, {}});
  ApprovalRow approval = commit().rows.opened.at(0);
  EXPECT_EQ(approval.node, "write");
  happens(Committed{moment(1)});
  TaskId visit = run.tasks.front().id;
  happens(decided(approval, Decided::Verdict::approved));
  EXPECT_EQ(run.row.status, RunStatus::running);
  happens(Committed{moment(60)});
  auto again = std::get<StartNode>(actions.at(0));
  EXPECT_EQ(again.attempt.task, visit);
  Context::Attempt attempt;
  attempt.answers = run.tasks.front().answers;
  Context context(attempt);
  EXPECT_TRUE(context.interrupt(question).approved);
  question.payload = Value(200);
  EXPECT_THROW(context.interrupt(question), Interrupted);
}

// Only a manual claim continues a quarantined run.
TEST_F(Stepping, ARunThatNobodyMayTakeUpRests) {
  begin();
  for (RunStatus status : {RunStatus::quarantined, RunStatus::paused, RunStatus::completed}) {
    run.row.status = status;
    happens(Claimed{moment(9), SessionId(derived_uuid("second"))});
    ASSERT_EQ(actions.size(), 1u) << name_of(status);
    EXPECT_TRUE(std::holds_alternative<Stop>(actions[0]));
    EXPECT_EQ(run.row.status, status);
  }
  run.row.status = RunStatus::quarantined;
  Claimed by_person{moment(9), SessionId(derived_uuid("second"))};
  by_person.is_manual = true;
  happens(by_person);
  EXPECT_EQ(commit().rows.run->status, RunStatus::running);
}

}  // namespace
}  // namespace belay::engine
