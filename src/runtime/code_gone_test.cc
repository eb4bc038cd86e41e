// Tests that runs whose code is gone can be read and cancelled by programs without their graph.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/check.h"
#include "tests/support/event_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

struct Crate {
  std::string text{};
  bool awaiting = false;
  std::vector<std::string> log{};
};

// The programs that lack the code of the runs: without a graph of the name, with another version of
// it, with a version that accepts the runs but lacks their nodes, and with an upgrade that fails.
enum class Lack { name, version, nodes, upgrade };
constexpr Lack kLacks[] = {Lack::name, Lack::version, Lack::nodes, Lack::upgrade};

struct CodeGone : Events {
  // `extra`: a node that makes another version. The effect of "send" starts after 10 min, and does
  // not end.
  static Graph<Crate> parcel(std::string name, bool extra) {
    GraphBuilder<Crate> graph{std::move(name)};
    graph.node("write", [](const Crate&, Context&) {
      return set(&Crate::text, "Dear Ana").append(&Crate::log, "written");
    });
    graph.approval("review", &Crate::text, {.question = "Send it?"})
        .pending_flag(&Crate::awaiting)
        .approved("send")
        .rejected(end);
    graph.node("send", [](const Crate&, Context& context) -> Task<Update<Crate>> {
      auto hangs = []() -> Task<Result<int>> {
        co_await sleep_for(1h);
        co_return 1;
      };
      EffectOptions options;
      co_await sleep_for(10min);
      co_await context.unkeyed_effect("mail", options, hangs);
      co_return unchanged<Crate>();
    });
    if (extra) graph.node("archive", [](const Crate&, Context&) { return unchanged<Crate>(); });
    graph.edge(start, "write").edge("write", "review");
    if (extra) graph.edge("send", "archive").edge("archive", end);
    if (!extra) graph.edge("send", end);
    return std::move(graph).build().value();
  }
  const Graph<Crate> old = parcel("parcel", false);

  // A version with another node instead of those of `old`.
  Graph<Crate> successor(Lack lack) const {
    GraphBuilder<Crate> graph{"parcel"};
    graph.node("pack", [](const Crate&, Context&) { return unchanged<Crate>(); });
    graph.edge(start, "pack").edge("pack", end);
    if (lack == Lack::nodes) graph.accept_older_versions();
    if (lack == Lack::upgrade) {
      graph.upgrade_from(to_hex(old.definition()->hash), [](const Value&) -> Result<Value> {
        return error(ErrorCode::unavailable, "the table of prices is missing");
      });
    }
    return std::move(graph).build().value();
  }

  std::unique_ptr<Runtime> stranger(Lack lack) {
    if (lack == Lack::nodes || lack == Lack::upgrade) return process(successor(lack));
    return process(lack == Lack::name ? parcel("memo", false) : parcel("parcel", true));
  }
  static StartOptions named(const std::string& thread) {
    StartOptions options;
    options.thread = ThreadId(thread);
    options.run.timeout = 24h;
    return options;
  }
  RunView begin(const std::string& thread, StartOptions options) {
    options.thread = ThreadId(thread);
    auto runtime = process(old);
    return block_on(loop, runtime->start(old, Crate{}, options)).value();
  }
  RunView enqueue(const std::string& thread) {
    auto runtime = process(old);
    StartOptions options = named(thread);
    options.if_busy = BusyThread::enqueue;
    return block_on(loop, runtime->enqueue(old, Crate{}, options, clock.now() + 24h)).value();
  }
  // Approves, and lets the process that executes "send" die.
  RunView leave_sending(const std::string& thread, std::chrono::minutes runs_for = 11min) {
    InterruptId asked = begin(thread, named(thread)).approval->interrupt;
    auto runtime = process(old);
    Spawned sending = approve(*runtime, asked);
    loop.run_until(clock.now() + runs_for);
    return view_of(*runtime, thread);
  }
  Spawned approve(Runtime& runtime, InterruptId asked) {
    Decision decision;
    decision.approved = true;
    decision.decided_by = "ana";
    return spawn<Result<DecisionResult>>(loop, runtime.decide(default_tenant(), asked, decision),
                                         [](const Result<DecisionResult>&) {});
  }
  RunView leave_quarantined(const std::string& thread) {
    leave_sending(thread, 1min);
    for (int i = 0; i <= limits::lost_claims_max; ++i) {
      auto runtime = process(old);
      Spawned working = spawn<Result<std::size_t>>(loop, runtime->run_worker(WorkerOptions{}),
                                                   [](const Result<std::size_t>&) {});
      loop.run_until(clock.now() + 1min);
    }
    auto runtime = process(old);
    return view_of(*runtime, thread);
  }
  RunView view_of(Runtime& runtime, const std::string& thread) {
    return block_on(loop, runtime.status(default_tenant(), ThreadId(thread))).value();
  }
  Result<RunView> cancel(Runtime& runtime, const std::string& thread,
                         std::optional<RunId> run = std::nullopt) {
    return block_on(loop, runtime.cancel(default_tenant(), ThreadId(thread), "ops", "", run));
  }
  void expect_sound(std::vector<std::shared_ptr<const GraphDefinition>> graphs) {
    CheckScope scope;
    scope.graphs = std::move(graphs);
    CheckReport report = block_on(loop, check_store(*kept, scope)).value();
    for (const Violation& each : report.violations) {
      ADD_FAILURE() << each.rule << " " << each.subject << ": " << each.message;
    }
  }
  // Cancels the run of the thread without its code, and checks that nothing of it is left.
  void expect_cancelled(const RunView& before, Lack lack) {
    std::string thread = before.row.thread.text;
    SCOPED_TRACE(thread + ", lack " + std::to_string(static_cast<int>(lack)));
    auto other = stranger(lack);
    EXPECT_EQ(view_of(*other, thread).row.status, before.row.status);
    auto cancelled = cancel(*other, thread);
    ASSERT_TRUE(cancelled.ok()) << cancelled.error().message;
    EXPECT_EQ(cancelled->row.status, RunStatus::cancelled);
    EXPECT_EQ(cancelled->row.seq, before.row.seq + 1);
    EXPECT_EQ(cancelled->row.epoch, before.row.epoch + 1);
    EXPECT_TRUE(cancelled->row.session.is_null());
    EXPECT_EQ(cancelled->row.due_at, Instant());
    EXPECT_EQ(cancel(*other, thread).value().row.seq, before.row.seq + 1) << "it is done";
    expect_sound({});
    expect_sound({old.definition()});
    expect_sound({old.definition(), parcel("parcel", true).definition()});
  }
};

TEST_F(CodeGone, AWaitingRunIsShownWithItsStoredStateAndItsApproval) {
  RunView asked = begin("t", named("t"));
  for (Lack lack : kLacks) {
    auto other = stranger(lack);
    RunView shown = view_of(*other, "t");
    EXPECT_EQ(shown.row, asked.row);
    EXPECT_EQ(shown.state, asked.state);
    ASSERT_TRUE(shown.approval);
    EXPECT_EQ(shown.approval->interrupt, asked.approval->interrupt);
    auto earlier = block_on(loop, other->status_at(default_tenant(), ThreadId("t"), 1));
    EXPECT_TRUE(earlier.ok());
  }
}

TEST_F(CodeGone, ItsEventsAreTheSameExceptForDefaults) {
  begin("t", named("t"));
  auto own = process(old);
  for (Lack lack : kLacks) {
    auto other = stranger(lack);
    auto expected = read_now(*own);
    auto events = read_now(*other);
    ASSERT_EQ(events.size(), expected.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      EXPECT_EQ(events[i].id, expected[i].id);
      if (events[i].kind == EventKind::values) continue;
      EXPECT_EQ(text_of(events[i]), text_of(expected[i]));
    }
    auto values = read_now(*other, options({EventKind::values}));
    EXPECT_EQ(values.back().body["text"], Value("Dear Ana"));
  }
}

TEST_F(CodeGone, AReplayAResumeAndADecisionStillNeedIt) {
  RunView asked = begin("t", named("t"));
  RunView queued = enqueue("queued");
  auto other = stranger(Lack::name);
  ReplayOptions again;
  again.thread = ThreadId("t");
  EXPECT_THAT(block_on(loop, other->replay(again)).error().message, HasSubstr("Unknown graph"));
  EXPECT_THAT(block_on(loop, other->resume(default_tenant(), ThreadId("queued"))).error().message,
              HasSubstr("Unknown graph"));
  Decision decision;
  decision.approved = true;
  decision.decided_by = "ana";
  EXPECT_FALSE(
      block_on(loop, other->decide(default_tenant(), asked.approval->interrupt, decision)).ok());
  EXPECT_EQ(view_of(*other, "t").row, asked.row);
  EXPECT_EQ(view_of(*other, "queued").row, queued.row);
}

TEST_F(CodeGone, ARunOfEachStatusCanBeCancelled) {
  int number = 0;
  for (Lack lack : kLacks) {
    std::string suffix = std::to_string(++number);
    StartOptions held = named("");
    held.run.breakpoints = Breakpoints{{"write"}, {}};
    expect_cancelled(enqueue("queued" + suffix), lack);
    expect_cancelled(begin("held" + suffix, held), lack);
    expect_cancelled(begin("asked" + suffix, named("")), lack);
    RunView lost = leave_sending("lost" + suffix);
    ASSERT_EQ(lost.row.status, RunStatus::running);
    expect_cancelled(lost, lack);
    RunView quarantined = leave_quarantined("quarantined" + suffix);
    ASSERT_EQ(quarantined.row.status, RunStatus::quarantined);
    expect_cancelled(quarantined, lack);
  }
}

TEST_F(CodeGone, TheCancelClosesApprovalsAndLeavesStartedEffectsUncertain) {
  RunView asked = begin("asked", named(""));
  RunView lost = leave_sending("lost");
  auto other = stranger(Lack::name);
  EXPECT_FALSE(cancel(*other, "asked").value().approval);
  EXPECT_TRUE(open_questions().empty());
  Decision late;
  late.approved = true;
  late.decided_by = "ana";
  auto answer =
      block_on(loop, other->decide(default_tenant(), asked.approval->interrupt, late)).value();
  EXPECT_EQ(answer.kind, DecisionResult::Kind::closed);
  RunView cancelled = cancel(*other, "lost").value();
  ASSERT_EQ(cancelled.uncertain.size(), 1u);
  EXPECT_EQ(cancelled.uncertain[0].name, "mail");
}

TEST_F(CodeGone, TheCancelFreesTheThreadAndTheNextRunDoesNotAwaitADecision) {
  for (Lack lack : kLacks) {
    std::string thread = "of lack " + std::to_string(static_cast<int>(lack));
    begin(thread, named(""));
    auto other = stranger(lack);
    EXPECT_EQ(cancel(*other, thread).value().state["awaiting"], Value(true)) << "as it was";
    StartOptions held = named("");
    held.run.breakpoints = Breakpoints{{"write"}, {}};
    RunView next = begin(thread, held);
    EXPECT_EQ(next.row.ordinal, 1);
    EXPECT_EQ(next.row.status, RunStatus::paused);
    EXPECT_EQ(next.state["awaiting"], Value(false));
    EXPECT_EQ(next.state["text"], Value("Dear Ana"));
    EXPECT_TRUE(cancel(*other, thread).ok());
    begin(thread, named(""));
    EXPECT_TRUE(cancel(*other, thread).ok());
    EXPECT_EQ(begin(thread, held).state["awaiting"], Value(false)) << "also after a later run";
  }
  expect_sound({old.definition()});
  expect_sound({});
}

TEST_F(CodeGone, ARunThatWaitsForAnEarlierOneCanBeCancelled) {
  begin("t", named(""));
  RunView waiting = enqueue("t");
  auto other = stranger(Lack::name);
  RunView cancelled = cancel(*other, "t", waiting.row.run).value();
  EXPECT_EQ(cancelled.row.status, RunStatus::cancelled);
  EXPECT_EQ(view_of(*other, "t").row.status, RunStatus::paused) << "the earlier one still waits";
  EXPECT_TRUE(cancel(*other, "t").ok());
  expect_sound({old.definition()});
}

TEST_F(CodeGone, ASuperstepInProgressWithASubgraphCanBeCancelled) {
  auto graph = everything();
  auto own = process(graph);
  auto paused = block_on(loop, own->start(graph, Plan{}, on_thread())).value();
  ASSERT_EQ(paused.row.status, RunStatus::paused);
  ASSERT_GE(open_questions().size(), 2u);
  auto other = stranger(Lack::name);
  RunView cancelled = cancel(*other, "t").value();
  EXPECT_TRUE(open_questions().empty());
  EXPECT_EQ(cancelled.state["log"], paused.state["log"]) << "the superstep has not ended";
  expect_sound({});
  expect_sound({graph.definition()});
  auto streamed = read_now(*own, options({EventKind::messages}));
  EXPECT_FALSE(streamed.empty()) << "what the nodes said is kept";
  ReplayOptions again;
  again.thread = ThreadId("t");
  auto report = block_on(loop, own->replay(again)).value();
  EXPECT_FALSE(report.divergence) << report.divergence->what;
}

TEST_F(CodeGone, TheCancelKeepsTheCustomEventsOfALoneSubgraph) {
  GraphBuilder<Chapter> chapter{"chapter"};
  chapter.node("open", [](const Chapter&, Context& context) {
    context.emit("opened", Value(1));
    return append(&Chapter::lines, "open");
  });
  chapter.approval("keep", &Chapter::title, {.question = "Keep it?"}).approved(end).rejected(end);
  chapter.edge(start, "open").edge("open", "keep");
  auto inner = std::move(chapter).build().value();
  GraphBuilder<Plan> outer{"outer"};
  outer.subgraph(
      "inside", inner, [](const Plan& plan) { return Chapter{plan.title}; },
      [](const Chapter& c) { return set(&Plan::title, c.title); });
  outer.edge(start, "inside").edge("inside", end);
  auto graph = built(std::move(outer));
  auto own = process(graph);
  block_on(loop, own->start(graph, Plan{}, on_thread())).value();
  ASSERT_FALSE(open_questions().empty());
  auto other = stranger(Lack::name);
  EXPECT_TRUE(cancel(*other, "t").ok());
  EXPECT_EQ(read_now(*own, options({EventKind::custom})).size(), 1u);
  EXPECT_EQ(read_now(*other, options({EventKind::custom})).size(), 1u);
  expect_sound({});
  expect_sound({graph.definition()});
}

TEST_F(CodeGone, AProgramThatHasTheCodeReplaysTheCancelledRunAndCopiesIt) {
  begin("t", named(""));
  auto own = process(old);
  cancel(*stranger(Lack::version), "t").value();
  ReplayOptions again;
  again.thread = ThreadId("t");
  auto report = block_on(loop, own->replay(again)).value();
  EXPECT_FALSE(report.divergence) << report.divergence->what;
  EXPECT_EQ(report.matching_commits, report.run.seq);
  ForkOptions fork;
  fork.from = ThreadId("t");
  fork.thread = ThreadId("copy");
  fork.copy = true;
  EXPECT_EQ(block_on(loop, own->fork(fork)).value().row.status, RunStatus::cancelled);
  expect_sound({old.definition()});
  expect_sound({});
}

// The process that executes the run has its code; the other one has not.
TEST_F(CodeGone, ACancelStopsALiveProcessThatHasTheCode) {
  InterruptId asked = begin("t", named("")).approval->interrupt;
  auto owner = process(old);
  Spawned sending = approve(*owner, asked);
  loop.run_until(clock.now() + 1s);
  RunView running = view_of(*owner, "t");
  ASSERT_EQ(running.row.status, RunStatus::running);
  RunView cancelled = cancel(*stranger(Lack::name), "t").value();
  EXPECT_EQ(cancelled.row.status, RunStatus::cancelled);
  EXPECT_GE(cancelled.row.worked_ms, 1000) << "a live process worked on it";
  loop.run_until(clock.now() + 2h);
  EXPECT_EQ(view_of(*owner, "t").row, cancelled.row) << "the owner is fenced";
  expect_sound({old.definition()});
}

TEST_F(CodeGone, ACancelLosesAgainstACommitThatComesFirst) {
  InterruptId asked = begin("t", named("")).approval->interrupt;
  auto owner = process(old);
  auto other = stranger(Lack::name);
  store.takes = 500ms;
  std::optional<Result<RunView>> cancelled;
  Spawned sending = approve(*owner, asked);
  loop.run_until(clock.now() + 250ms);
  Spawned cancelling =
      spawn<Result<RunView>>(loop, other->cancel(default_tenant(), ThreadId("t"), "ops"),
                             [&](Result<RunView> result) { cancelled = std::move(result); });
  loop.run_until(clock.now() + 10s);
  ASSERT_TRUE(cancelled && cancelled->ok());
  EXPECT_EQ((*cancelled)->row.status, RunStatus::cancelled);
  EXPECT_EQ((*cancelled)->row.outcome, "") << "the decision was committed first";
  loop.run_until(clock.now() + 2h);
  EXPECT_EQ(view_of(*owner, "t").row, (*cancelled)->row);
  expect_sound({old.definition()});
}

}  // namespace
}  // namespace belay
