// Tests runs that begin from an earlier commit of their thread (StateEdit::from).

#include <gmock/gmock.h>

#include "tests/threads/state_edit_fixture.h"

namespace belay {
namespace {

using ::testing::HasSubstr;

struct StateReturns : StateEdits {
  // Begins from the commit of the run.
  Result<RunView> from(const Graph<Draft>& of, const RunView& run, std::int64_t seq,
                       StateEdit edit = {}, StartOptions options = {}) {
    options.thread = run.row.thread;
    options.edit = std::move(edit);
    options.edit->from = RunCommit{run.row.run.text(), seq};
    return block_on(loop, runtime->start(of, Draft(), options));
  }
  static StateEdit turn(const std::string& text) {
    StateEdit edit;
    edit.as_node = start;
    edit.values = Value::object({{"text", text}});
    return edit;
  }
  // The commit that ended this node.
  std::int64_t after(const RunView& run, std::string_view node) {
    for (std::uint64_t seq = run.row.seq; seq > 0; --seq) {
      auto view =
          block_on(loop, runtime->status_at(default_tenant(), run.row.thread, seq, run.row.run));
      if (view.ok() && view->row.node == node) return static_cast<std::int64_t>(seq);
    }
    return 0;
  }
  std::string log(const RunView& view) { return to_json(view.state["log"]); }
  Result<RunView> approve(const RunView& view) {
    Decision decision;
    decision.approved = true;
    decision.decided_by = "ana";
    auto made = block_on(
        loop, runtime->decide(default_tenant(), view.approval->interrupt, std::move(decision)));
    if (!made.ok()) return std::move(made).error();
    return std::move(made->view);
  }
};

TEST_F(StateReturns, ContinueAtAnEarlierCommit) {
  auto first = begin(line, "t");
  auto again = from(line, first, after(first, "plan")).value();
  EXPECT_EQ(again.row.status, RunStatus::completed);
  EXPECT_NE(again.row.run, first.row.run);
  EXPECT_EQ(log(again), R"(["plan","write","send draft of a letter","file"])");
  auto anew = from(line, first, 1).value();
  EXPECT_EQ(log(anew), log(again)) << "also a channel that was empty then";
  auto last = from(line, anew, after(anew, "send")).value();
  EXPECT_EQ(log(last), log(again)) << "and from a later run of the thread";
  for (const RunView& each : {again, anew, last}) EXPECT_EQ(replayed(each), "");
  EXPECT_EQ(violations(), "");
}

TEST_F(StateReturns, TakeAnInputAsTheNextTurn) {
  auto first = begin(line, "t");
  auto branch = from(line, first, after(first, "write"), turn("another")).value();
  EXPECT_EQ(log(branch), R"(["plan","write","plan","write","send draft of another","file"])");
  EXPECT_EQ(*branch.state["text"].as_string(), "draft of another");
  StartOptions next = on("t");
  Draft input;
  input.text = "the last";
  auto later = block_on(loop, runtime->start(line, input, next)).value();
  EXPECT_THAT(log(later), HasSubstr(R"("send draft of another","file","plan")"))
      << "the next turn continues the branch";
  EXPECT_EQ(replayed(branch), "");
  EXPECT_EQ(violations(), "");
}

TEST_F(StateReturns, RequestAnApprovalAgain) {
  auto waiting = begin(asking, "t");
  auto sent = approve(waiting).value();
  ASSERT_EQ(sent.row.status, RunStatus::completed);
  auto again = from(asking, sent, after(sent, "write")).value();
  ASSERT_TRUE(again.approval);
  EXPECT_NE(again.approval->interrupt, waiting.approval->interrupt);
  EXPECT_EQ(approve(again)->row.status, RunStatus::completed);
  EXPECT_EQ(violations(), "");
}

TEST_F(StateReturns, CanBeginBehindADecisionThatShowedTheState) {
  auto sent = approve(begin(asking, "t")).value();
  std::int64_t behind = after(sent, "review");
  ASSERT_GT(behind, 0);
  auto again = from(asking, sent, behind);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(log(*again), log(sent));
  StateEdit changed;
  changed.values = Value::object({{"text", "another"}});
  EXPECT_EQ(from(asking, sent, behind, changed).error().code, ErrorCode::forbidden);
  StateEdit skipping;
  skipping.go_to = {{"send", {}}};
  EXPECT_EQ(from(asking, sent, 1, skipping).error().code, ErrorCode::forbidden);
  auto turned = from(asking, sent, behind, turn("another")).value();
  EXPECT_EQ(turned.row.node, "review") << "a turn passes each approval";
  EXPECT_EQ(violations(), "");
}

TEST_F(StateReturns, KeepTheDecisionsThatLedToTheirNodes) {
  GraphBuilder<Draft> of{"decided"};
  of.accumulate(&Draft::log);
  of.node("write", write);
  of.node("send", [](const Draft&, Context& context) {
    const ApprovalDecision* decision = context.decision("review");
    return append(&Draft::log, decision ? "as decided by " + decision->decided_by : "undecided");
  });
  of.approval("review", &Draft::text, {.question = "Send it?"}).approved("send").rejected(end);
  of.edge(start, "write").edge("write", "review").edge("send", end);
  Graph<Draft> decided = std::move(of).build().value();
  runtime->add(decided);
  auto sent = approve(begin(decided, "t")).value();
  ASSERT_EQ(log(sent), R"(["write","as decided by ana"])");
  auto again = from(decided, sent, after(sent, "review")).value();
  EXPECT_EQ(log(again), log(sent));
  EXPECT_EQ(replayed(again), "");
  EXPECT_EQ(violations(), "");
  StateEdit forged;
  forged.go_to = {{"send", "", R"([{"approval":"review"}])"}};
  EXPECT_EQ(from(decided, sent, 1, forged).error().code, ErrorCode::invalid);
}

TEST_F(StateReturns, DoNotHideADecisionFromLaterChanges) {
  auto sent = approve(begin(asking, "t")).value();
  StartOptions held;
  held.run.breakpoints = Breakpoints{.before = {"file"}};
  auto again = from(asking, sent, after(sent, "review"), {}, held).value();
  ASSERT_EQ(again.row.node, "file");
  auto changed = edit(asking, "t", Value::object({{"text", "another"}}));
  EXPECT_EQ(changed.error().code, ErrorCode::forbidden);
}

TEST_F(StateReturns, AreOpenToKeysThatCannotDecide) {
  auto sent = approve(begin(asking, "t")).value();
  StateEdit edit;
  edit.may_decide = false;
  EXPECT_TRUE(from(asking, sent, after(sent, "plan"), edit).ok());
  StateEdit next = turn("another");
  next.may_decide = false;
  EXPECT_TRUE(from(asking, sent, 1, next).ok());
  edit.values = Value::object({{"text", "another"}});
  EXPECT_EQ(from(asking, sent, 1, edit).error().code, ErrorCode::forbidden);
}

TEST_F(StateReturns, NeedACommitOfTheThread) {
  auto first = begin(line, "t");
  auto other = begin(line, "other");
  EXPECT_EQ(from(line, first, 99).error().code, ErrorCode::not_found);
  EXPECT_EQ(from(line, first, 0).error().code, ErrorCode::not_found);
  RunView mixed = other;
  mixed.row.thread = ThreadId("t");
  EXPECT_EQ(from(line, mixed, 1).error().code, ErrorCode::not_found);
  mixed.row.thread = ThreadId("unknown");
  EXPECT_EQ(from(line, mixed, 1).error().code, ErrorCode::not_found);
  RunView unnamed = first;
  StateEdit edit;
  edit.from = RunCommit{"no id", 1};
  StartOptions options = on("t");
  options.edit = edit;
  EXPECT_EQ(block_on(loop, runtime->start(line, Draft(), options)).error().code,
            ErrorCode::not_found);
}

TEST_F(StateReturns, ReplaceARunThatWaitsForAPerson) {
  auto held = begin(line, "t", {.before = {"send"}});
  auto again = from(line, held, after(held, "plan")).value();
  EXPECT_EQ(again.row.status, RunStatus::completed);
  auto replaced =
      block_on(loop, runtime->status(default_tenant(), ThreadId("t"), held.row.run)).value();
  EXPECT_EQ(replaced.row.status, RunStatus::cancelled);
  EXPECT_EQ(violations(), "");
}

TEST_F(StateReturns, InterruptRunsAtWorkOnlyIfTheStartDoes) {
  auto held = begin(line, "t", {.before = {"send"}});
  StartOptions queued = on("t");
  queued.if_busy = BusyThread::enqueue;
  auto waiting = block_on(loop, runtime->start(line, Draft(), queued)).value();
  ASSERT_EQ(waiting.row.status, RunStatus::queued);
  EXPECT_EQ(from(line, held, 1).error().code, ErrorCode::conflict);
  StartOptions options;
  options.if_busy = BusyThread::interrupt;
  EXPECT_EQ(from(line, held, 99, {}, options).error().code, ErrorCode::not_found);
  auto untouched =
      block_on(loop, runtime->status(default_tenant(), ThreadId("t"), waiting.row.run)).value();
  EXPECT_EQ(untouched.row.status, RunStatus::queued);
  EXPECT_EQ(from(line, held, 1, {}, options)->row.status, RunStatus::completed);
  EXPECT_EQ(violations(), "");
}

TEST_F(StateReturns, AreRepeatedByTheirKeyOnly) {
  auto first = begin(line, "t");
  StartOptions keyed;
  keyed.idempotency_key = "back";
  auto again = from(line, first, 1, {}, keyed).value();
  EXPECT_EQ(from(line, first, 1, {}, keyed)->row.run, again.row.run);
  EXPECT_EQ(from(line, first, 2, {}, keyed).error().code, ErrorCode::invalid);
}

TEST_F(StateReturns, PassOneBreakpointWithOneCommit) {
  auto held = begin(line, "t", {.before = {"*"}});
  auto seq = held.row.seq;
  auto pass = [&] {
    return block_on(loop, runtime->resume(default_tenant(), ThreadId("t"), std::nullopt, seq))
        .value();
  };
  auto passed = pass();
  EXPECT_GT(passed.row.seq, seq);
  EXPECT_EQ(pass().row.seq, passed.row.seq) << "the same request passes no second one";
}

}  // namespace
}  // namespace belay
