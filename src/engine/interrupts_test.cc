// Tests approvals and decisions at the level of advance().

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/limits.h"
#include "engine/advance.h"
#include "engine/run_factory.h"
#include "engine/transition.h"

namespace belay::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct Letter {
  std::string text{};
  double weight = 0;
  std::vector<std::string> seen{};
  bool awaiting = false;
  bool approved = false;
};

Update<Letter> pass(const Letter&, Context&) { return unchanged<Letter>(); }

Moment moment_of(int seconds) {
  return Moment{*instant_from("2026-11-21T12:00:00Z") + std::chrono::seconds(seconds),
                1000u + static_cast<unsigned>(seconds)};
}

// Passes events to one run, one at a time, and keeps the approvals and channels of its commits.
struct Asking : ::testing::Test {
  Graph<Letter> graph = alone();
  engine::Run run;
  std::vector<Action> actions;
  std::vector<ApprovalRow> opened;
  std::vector<std::string> written;  // channels
  std::vector<ApprovalRow> decided;
  int commits = 0;

  // write -> review -> send
  static Graph<Letter> alone(std::function<std::string(const Letter&)> wording = nullptr) {
    GraphBuilder<Letter> builder{"letter"};
    builder.node("write", pass);
    auto review = builder.approval("review", &Letter::text, {.question = "Send?"});
    review.approved("send").rejected(end).pending_flag(&Letter::awaiting);
    if (wording) review.question(std::move(wording));
    builder.node("send", pass);
    builder.edge(start, "write").edge("write", "review").edge("send", end);
    return std::move(builder).build().value();
  }
  // write -> {review, print}: the run can be running while its approval is open.
  static Graph<Letter> beside() {
    GraphBuilder<Letter> builder{"letter"};
    builder.node("write", pass);
    builder.node("print", pass);
    builder.approval("review", &Letter::text, {.question = "Send?"})
        .approved("send")
        .rejected(end)
        .pending_flag(&Letter::awaiting)
        .decision_flag(&Letter::approved);
    builder.node("send", pass);
    builder.edge(start, "write").edge("write", "review").edge("write", "print");
    builder.edge("print", end).edge("send", end);
    return std::move(builder).build().value();
  }

  void happens(Event event) {
    auto next = advance(*graph.definition(), std::move(run), std::move(event));
    run = std::move(next.run);
    actions = std::move(next.actions);
    for (Action& action : actions) {
      auto* write = std::get_if<WriteCommit>(&action);
      if (!write) continue;
      ++commits;
      CommitRows& rows = write->commit->rows;
      opened.insert(opened.end(), rows.opened.begin(), rows.opened.end());
      for (const ValueRow& value : rows.values) written.push_back(value.channel);
      if (rows.decided) decided.push_back(*rows.decided);
    }
  }
  // The commit of the last event.
  Commit only_commit() {
    if (actions.size() == 1) {
      if (auto* write = std::get_if<WriteCommit>(&actions.front())) return *write->commit;
    }
    ADD_FAILURE() << actions.size() << " actions";
    return {};
  }
  // The error with which the last event was refused.
  Error refusal() {
    if (actions.size() == 1) {
      if (auto* refused = std::get_if<Refuse>(&actions.front())) return refused->why;
    }
    ADD_FAILURE() << "not refused";
    return error(ErrorCode::unavailable, "");
  }
  void begin(RunOptions options = {}) {
    RunRow row;
    row.tenant = default_tenant();
    row.run = RunId(derived_uuid("run"));
    row.thread = ThreadId("t");
    row.user = UserId("u");
    row.session = SessionId(derived_uuid("session"));
    auto input = std::make_shared<Letter>();
    run = new_run(*graph.definition(), row, std::move(options), input).value();
    happens(Started{moment_of(0)});
    happens(Committed{moment_of(0)});
  }
  void ends(std::string node, int seconds, Update<Letter> update) {
    for (const NodeTask& task : run.tasks) {
      if (task.node->name != node) continue;
      NodeEnded event;
      event.moment = moment_of(seconds);
      event.of = {{}, task.position, task.id, task.attempt};
      event.answer = std::move(update).take_update();
      return happens(std::move(event));
    }
    ADD_FAILURE() << node << " is not due";
  }
  Decided approve(ApprovalRow approval, std::optional<Value> edited = std::nullopt) {
    Decided event;
    event.moment = moment_of(60);
    event.session = SessionId(derived_uuid("other session"));
    event.approval = std::move(approval);
    event.verdict = Decided::Verdict::approved;
    event.decided_by = "ana";
    event.edited = std::move(edited);
    return event;
  }
  // Returns the open approval of a run that is still running another task.
  ApprovalRow ask_beside() {
    graph = beside();
    begin();
    ends("write", 1, set(&Letter::text, "Dear all"));
    happens(Committed{moment_of(1)});
    EXPECT_EQ(run.row.status, RunStatus::running);
    return opened.at(0);
  }
  // The same after the other task has completed: the run is paused.
  ApprovalRow pause_beside() {
    ApprovalRow approval = ask_beside();
    happens(Committed{moment_of(1)});
    ends("print", 2, append(&Letter::seen, "printed"));
    happens(Committed{moment_of(2)});
    EXPECT_EQ(run.row.status, RunStatus::paused);
    return approval;
  }
};

TEST_F(Asking, AQuestionThatCantBeWordedFailsTheRunAndAsksNobody) {
  graph = alone([](const Letter&) -> std::string { throw std::runtime_error("no words"); });
  begin();
  ends("write", 1, set(&Letter::text, "Dear all"));
  happens(Committed{moment_of(1)});
  EXPECT_EQ(run.row.status, RunStatus::failed);
  EXPECT_THAT(run.row.error, HasSubstr("no words"));
  EXPECT_TRUE(opened.empty());
}

// A sum that JSON cannot represent is detected only when it is saved: with the request.
TEST_F(Asking, ARunWhoseStateCantBeSavedWithItsQuestionFailsAndAsksNobody) {
  GraphBuilder<Letter> builder{"heavy"};
  for (std::string name : {"write", "print", "pack"}) builder.node(name, pass);
  builder.approval("review", &Letter::text, {.question = "Send?"}).approved(end).rejected(end);
  builder.edge(start, "write").edge("write", "print").edge("write", "pack");
  builder.edge("print", "review").edge("pack", "review");
  graph = std::move(builder).build().value();
  begin(RunOptions{.durability = Durability::exit});
  ends("write", 1, set(&Letter::text, "Dear all"));
  happens(Committed{moment_of(1)});
  ends("print", 2, add(&Letter::weight, 1.5e308));
  ends("pack", 3, add(&Letter::weight, 1.5e308));
  EXPECT_EQ(run.row.status, RunStatus::failed);
  EXPECT_THAT(run.row.error, HasSubstr("\"weight\" cannot be saved"));
  EXPECT_TRUE(opened.empty());
}

TEST_F(Asking, TheAwaitingFlagOfAnApprovalAmongOthersStaysDown) {
  ApprovalRow approval = pause_beside();
  happens(approve(approval));
  happens(Committed{moment_of(61)});
  EXPECT_EQ(run.row.status, RunStatus::running);
  const auto& state = *static_cast<const Letter*>(run.state.get());
  EXPECT_FALSE(state.awaiting);
  EXPECT_TRUE(state.approved);
  EXPECT_THAT(written, ::testing::Not(::testing::Contains("awaiting")))
      << "those beside it would see it change in the midst of their superstep";
}

TEST_F(Asking, ADecisionOnARunningRunIsOnlyRecordedAndAppliedOnceItIsStored) {
  Decided decision = approve(ask_beside());
  engine::Run before = run;
  happens(decision);
  EXPECT_EQ(run.row, before.row);
  EXPECT_TRUE(waits_for(run, decision.approval.interrupt));
  Commit commit = only_commit();
  EXPECT_FALSE(commit.run_guard);
  EXPECT_FALSE(commit.rows.run);
  ASSERT_TRUE(commit.approval_guard);
  EXPECT_TRUE(commit.approval_guard->run_is_active);
  EXPECT_EQ(commit.approval_guard->expiry, ApprovalGuard::Expiry::ahead);
  EXPECT_EQ(commit.rows.decided->status, ApprovalStatus::approved);
  EXPECT_EQ(commit.if_expired->decided->status, ApprovalStatus::expired);
  decided.clear();
  decision.is_stored = true;
  happens(decision);
  EXPECT_FALSE(waits_for(run, decision.approval.interrupt));
  EXPECT_TRUE(decided.empty()) << "it is stored already";
}

TEST_F(Asking, ADecisionThatNoTaskOfARunningRunWaitsForIsNotRecorded) {
  Decided decision = approve(ask_beside());
  decision.approval.interrupt = InterruptId(derived_uuid("another"));
  happens(decision);
  EXPECT_TRUE(actions.empty());
}

TEST_F(Asking, AnExpiryOfARunningRunIsRecordedWithoutTheRun) {
  ApprovalRow approval = ask_beside();
  run = {};
  run.row.tenant = default_tenant();
  happens(ExpiredWhileActive{moment_of(60), approval});
  Commit commit = only_commit();
  EXPECT_FALSE(commit.run_guard);
  EXPECT_TRUE(commit.approval_guard->run_is_active);
  EXPECT_EQ(commit.approval_guard->expiry, ApprovalGuard::Expiry::passed);
  EXPECT_EQ(commit.rows.decided->status, ApprovalStatus::expired);
  EXPECT_FALSE(commit.if_expired);
  approval.payload = json_envelope("\"another\"");
  happens(ExpiredWhileActive{moment_of(60), approval});
  EXPECT_EQ(refusal().code, ErrorCode::corrupt);
}

TEST_F(Asking, ADecisionOnAPausedRunCarriesTheExpiryThatReplacesItIfItIsLate) {
  Decided decision = approve(pause_beside());
  engine::Run paused = copy_of(run);
  happens(decision);
  EXPECT_EQ(run.row.status, RunStatus::running);
  Commit commit = only_commit();
  ASSERT_TRUE(commit.if_expired);
  EXPECT_EQ(commit.rows.decided->status, ApprovalStatus::approved);
  EXPECT_EQ(commit.if_expired->decided->status, ApprovalStatus::expired);
  EXPECT_NE(commit.if_expired->checkpoint->id, commit.rows.checkpoint->id)
      << "by the id the store recognises which of the two it wrote";
  // The run of the expiry is the one that an expiry alone results in.
  auto& write = std::get<WriteCommit>(actions.front());
  ASSERT_TRUE(write.if_expired);
  EXPECT_EQ(write.if_expired->row, *commit.if_expired->run);
  decision.verdict = Decided::Verdict::expired;
  auto alone = advance(*graph.definition(), std::move(paused), decision);
  EXPECT_EQ(alone.run.chain_hash, write.if_expired->chain_hash);
  EXPECT_EQ(alone.run.row.node, write.if_expired->row.node);
}

TEST_F(Asking, ADecisionOfARunThatHasBeenGivenBackIsLeftToWhoeverTakesItUp) {
  Decided decision = approve(ask_beside());
  happens(Released{moment_of(2), true});
  ASSERT_EQ(run.row.status, RunStatus::queued);
  decision.is_stored = true;
  happens(decision);
  EXPECT_TRUE(actions.empty());
  EXPECT_TRUE(waits_for(run, decision.approval.interrupt));
}

TEST_F(Asking, AnEditThatDoesNotFitIsRefusedAndTheRunStillWaits) {
  begin();
  ends("write", 1, set(&Letter::text, "Dear all"));
  happens(Committed{moment_of(1)});
  engine::Run before = run;
  for (Value edit : {Value(42), Value(std::string(limits::value_bytes_max, 'x'))}) {
    happens(approve(opened.at(0), edit));
    EXPECT_EQ(refusal().code, ErrorCode::invalid);
    EXPECT_EQ(run.row, before.row);
    EXPECT_TRUE(waits_for(run, opened.at(0).interrupt));
  }
  EXPECT_TRUE(decided.empty());
}

TEST_F(Asking, AnEditThatEqualsThePayloadIsNoEdit) {
  begin();
  ends("write", 1, set(&Letter::text, "Dear all"));
  happens(Committed{moment_of(1)});
  happens(approve(opened.at(0), Value("Dear all")));
  EXPECT_EQ(decided.at(0).edited, "");
}

TEST_F(Asking, AStoredEditThatDoesNotFitFailsTheRun) {
  begin();
  ends("write", 1, set(&Letter::text, "Dear all"));
  happens(Committed{moment_of(1)});
  Decided decision = approve(opened.at(0), Value(42));
  decision.is_stored = true;
  happens(decision);
  EXPECT_EQ(run.row.status, RunStatus::failed);
  EXPECT_THAT(run.row.error, HasSubstr("does not fit"));
}

TEST_F(Asking, AnEditThatCantBeSavedAheadOfTheOthersFailsTheRunInOneCommit) {
  graph = beside();
  GraphBuilder<Letter> builder{"two questions"};
  builder.node("write", pass);
  for (std::string name : {"one", "two"}) {
    builder.approval(name, &Letter::text, {.question = "Send?"}).approved(end).rejected(end);
    builder.edge("write", name);
  }
  builder.edge(start, "write");
  graph = std::move(builder).build().value();
  begin();
  ends("write", 1, set(&Letter::text, "Dear all"));
  happens(Committed{moment_of(1)});
  happens(Committed{moment_of(1)});
  ASSERT_EQ(run.row.status, RunStatus::paused);
  commits = 0;
  Decided decision = approve(opened.at(0), Value(std::string(limits::value_bytes_max, 'x')));
  decision.is_stored = true;
  happens(decision);
  EXPECT_EQ(run.row.status, RunStatus::failed);
  EXPECT_THAT(run.row.error, HasSubstr("cannot be saved"));
  EXPECT_EQ(commits, 1);
}

TEST_F(Asking, AQuestionWhosePayloadIsNotWhatWasShownIsNotAnswered) {
  for (bool is_text : {true, false}) {
    run = {};
    opened.clear();
    begin();
    InterruptRequest question;
    question.name = "amount";
    question.payload = Value(100);
    const NodeTask& task = run.tasks.front();
    happens(NodeInterrupted{moment_of(1), {{}, 0, task.id, task.attempt}, question, {}});
    happens(Committed{moment_of(1)});
    ApprovalRow damaged = opened.at(0);
    damaged.payload = is_text ? json_envelope("900") : std::string("not an envelope");
    Decided decision = approve(damaged);
    happens(decision);
    EXPECT_EQ(refusal().code, ErrorCode::corrupt);
    EXPECT_EQ(run.row.status, RunStatus::paused);
    decision.is_stored = true;
    happens(decision);
    EXPECT_EQ(run.row.status, RunStatus::failed);
    EXPECT_EQ(run.row.error_code, "corrupt");
  }
}

}  // namespace
}  // namespace belay::engine
