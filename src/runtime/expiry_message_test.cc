// Tests the outbox messages of expiries: one for each approval that expires, wherever its process
// dies and in each commit that can record the expiry.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/check.h"
#include "tests/support/crashing_store_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Memo {
  std::string draft = "Dear all";
  std::vector<std::string> log{};
};

Update<Memo> log_node(const Memo&, Context& context) {
  return append(&Memo::log, std::string(context.node()));
}

ApprovalOptions asked_with(std::string question) {
  return {.question = std::move(question),
          .expires = 1h,
          .on_expiry = ExpiryMessage{"late", Value("please look")}};
}

// review, then send.
Graph<Memo> lone_memo() {
  GraphBuilder<Memo> graph{"lone"};
  graph.approval("review", &Memo::draft, asked_with("Send?")).approved("send").rejected(end);
  graph.node("send", log_node);
  graph.edge(start, "review").edge("send", end);
  return std::move(graph).build().value();
}

// `count` approvals in one superstep, next to a node that takes `walk`.
Graph<Memo> wide_memo(int count, std::chrono::milliseconds walk = 0ms) {
  GraphBuilder<Memo> graph{"wide"};
  graph.node("walk", [walk](const Memo&, Context&) -> Task<Update<Memo>> {
    co_await sleep_for(walk);
    co_return append(&Memo::log, "walk");
  });
  graph.edge(start, "walk").edge("walk", end);
  for (int i = 0; i < count; ++i) {
    std::string name = "ask" + std::to_string(i);
    graph.approval(name, &Memo::draft, asked_with(name)).approved(end).rejected(end);
    graph.edge(start, name);
  }
  return std::move(graph).build().value();
}

// lone_memo() as a node of another graph.
Graph<Memo> outer_memo() {
  GraphBuilder<Memo> graph{"outer"};
  graph.subgraph(
      "inner", lone_memo(), [](const Memo& memo) { return memo; },
      [](const Memo&) { return append(&Memo::log, "inner"); });
  graph.edge(start, "inner").edge("inner", end);
  return std::move(graph).build().value();
}

struct ExpiryDeliveries : CrashingStoreFixture {
  std::map<std::string, std::vector<std::string>> arrived;  // ids by question

  std::unique_ptr<Runtime> office(const Graph<Memo>& graph) {
    auto runtime = process(graph);
    runtime->deliver("late", [this](OutboxMessage message) -> Task<Result<Done>> {
      EXPECT_EQ(message.body["event"], Value("approval.expired"));
      EXPECT_EQ(message.body["data"], Value("please look"));
      arrived[*message.body["question"].as_string()].push_back(message.id);
      co_return Done{};
    });
    return runtime;
  }
  static Decision approval_of_ana() {
    Decision decision;
    decision.approved = true;
    decision.decided_by = "ana";
    return decision;
  }
  static StartOptions named(const std::string& thread) {
    StartOptions options;
    options.thread = ThreadId(thread);
    options.run.timeout = 24h;
    return options;
  }
  Spawned begin(Runtime& runtime, const Graph<Memo>& graph) {
    return spawn<Result<RunView>>(loop, runtime.start(graph, Memo{}, named("t")),
                                  [](const Result<RunView>&) {});
  }
  Spawned working(Runtime& runtime) {
    return spawn<Result<std::size_t>>(loop, runtime.run_worker(WorkerOptions{}),
                                      [](const Result<std::size_t>&) {});
  }
  void pass(std::chrono::microseconds time) { loop.run_until(clock.now() + time); }
  RunView view(Runtime& runtime, const std::string& thread = "t") {
    return block_on(loop, runtime.status(default_tenant(), ThreadId(thread))).value();
  }
  std::vector<ApprovalRow> approvals() {
    std::function<Result<std::vector<ApprovalRow>>(Snapshot&)> reader = [](Snapshot& view) {
      ApprovalFilter filter;
      filter.tenant = default_tenant();
      return view.approvals(filter);
    };
    return block_on(loop, read<std::vector<ApprovalRow>>(*kept, std::move(reader))).value();
  }
  std::vector<OutboxRow> outbox() {
    std::function<Result<std::vector<OutboxRow>>(Snapshot&)> reader = [](Snapshot& view) {
      OutboxFilter filter;
      filter.tenant = default_tenant();
      return view.outbox(filter);
    };
    return block_on(loop, read<std::vector<OutboxRow>>(*kept, std::move(reader))).value();
  }
  // Every approval that has expired has its message, and no other one has: rule I16.
  std::string violations(const Graph<Memo>& graph) {
    CheckScope scope;
    scope.graphs = {graph.definition()};
    std::string told;
    CheckReport report = block_on(loop, check_store(*kept, scope)).value();
    for (const Violation& each : report.violations) {
      told += each.rule + " " + each.subject + ": " + each.message + "\n";
    }
    return told;
  }
  void expect_one_message_each(std::size_t count) {
    EXPECT_EQ(arrived.size(), count);
    for (const auto& [question, ids] : arrived) EXPECT_EQ(ids.size(), 1u) << question;
    EXPECT_EQ(outbox().size(), count);
  }
};

// A store and its processes, of which a test needs several.
struct MemoWorld : ExpiryDeliveries {
  void TestBody() override {}
};

TEST_F(ExpiryDeliveries, FollowTheExpiryOfAPausedRun) {
  auto graph = lone_memo();
  auto runtime = office(graph);
  Spawned run = begin(*runtime, graph);
  Spawned work = working(*runtime);
  pass(59min);
  EXPECT_THAT(arrived, IsEmpty());
  EXPECT_THAT(outbox(), IsEmpty());
  pass(2min);
  expect_one_message_each(1);
  EXPECT_EQ(view(*runtime).row.outcome, "expired");
  EXPECT_EQ(violations(graph), "");
}

TEST_F(ExpiryDeliveries, FollowTheExpiryWhileTheRunIsRunning) {
  auto graph = wide_memo(1, 3h);
  auto runtime = office(graph);
  Spawned run = begin(*runtime, graph);
  pass(90min);
  EXPECT_EQ(block_on(loop, runtime->process_due(default_tenant())).value().expired_approvals, 1u);
  EXPECT_EQ(view(*runtime).row.status, RunStatus::running);
  EXPECT_EQ(outbox().size(), 1u);
  EXPECT_EQ(violations(graph), "");
  pass(2h);
  Spawned work = working(*runtime);
  pass(1min);
  EXPECT_EQ(view(*runtime).row.status, RunStatus::completed);
  expect_one_message_each(1);
  EXPECT_EQ(violations(graph), "");
}

TEST_F(ExpiryDeliveries, OfSeveralOverdueApprovalsAreSeveral) {
  auto graph = wide_memo(5);
  auto runtime = office(graph);
  Spawned run = begin(*runtime, graph);
  pass(2h);
  Spawned work = working(*runtime);
  pass(1min);
  EXPECT_EQ(view(*runtime).row.status, RunStatus::completed);
  expect_one_message_each(5);
  EXPECT_EQ(violations(graph), "");
}

TEST_F(ExpiryDeliveries, FollowAnExpiryInASubgraph) {
  auto graph = outer_memo();
  auto runtime = office(graph);
  Spawned run = begin(*runtime, graph);
  pass(1h);
  Spawned work = working(*runtime);
  pass(1min);
  EXPECT_EQ(view(*runtime).row.status, RunStatus::completed);
  expect_one_message_each(1);
  EXPECT_EQ(violations(graph), "");
}

TEST_F(ExpiryDeliveries, FollowADecisionThatIsTooLate) {
  for (std::chrono::milliseconds walk : {0ms, 10'800'000ms}) {
    MemoWorld world;
    auto graph = wide_memo(1, walk);
    auto runtime = world.office(graph);
    Spawned run = world.begin(*runtime, graph);
    world.pass(2h);
    std::vector<ApprovalRow> asked = world.approvals();
    ASSERT_EQ(asked.size(), 1u);
    auto answer = block_on(
        world.loop, runtime->decide(default_tenant(), asked[0].interrupt, approval_of_ana()));
    EXPECT_EQ(answer.value().kind, DecisionResult::Kind::expired);
    Spawned work = world.working(*runtime);
    world.pass(1min);
    world.expect_one_message_each(1);
    EXPECT_EQ(world.violations(graph), "");
  }
}

TEST_F(ExpiryDeliveries, DoNotFollowADecisionInTimeOrACancel) {
  auto graph = wide_memo(2);
  auto runtime = office(graph);
  Spawned run = begin(*runtime, graph);
  pass(30min);
  InterruptId first = approvals()[0].interrupt;
  block_on(loop, runtime->decide(default_tenant(), first, approval_of_ana())).value();
  block_on(loop, runtime->cancel(default_tenant(), ThreadId("t"), "ana")).value();
  Spawned work = working(*runtime);
  pass(2h);
  EXPECT_THAT(arrived, IsEmpty());
  EXPECT_THAT(outbox(), IsEmpty());
  EXPECT_EQ(violations(graph), "");
}

// The decision and the expiry are committed at the same time, in both orders and with each delay.
TEST_F(ExpiryDeliveries, AreSentExactlyIfTheDecisionAtTheSameTimeIsTooLate) {
  int expired = 0;
  for (int early = -3; early <= 3; ++early) {
    auto graph = lone_memo();
    auto runtime = office(graph);
    std::string thread = "t" + std::to_string(early);
    block_on(loop, runtime->start(graph, Memo{}, named(thread))).value();
    ApprovalRow asked = view(*runtime, thread).approvals.at(0);
    arrived.clear();
    store.takes = 2ms;
    loop.run_until(asked.expires_at - std::chrono::milliseconds(early));
    std::optional<DecisionResult::Kind> kind;
    Spawned deciding = spawn<Result<DecisionResult>>(
        loop, runtime->decide(default_tenant(), asked.interrupt, approval_of_ana()),
        [&](const Result<DecisionResult>& answer) { kind = answer.value().kind; });
    Spawned work = working(*runtime);
    pass(5min);
    ASSERT_TRUE(kind);
    bool is_late = *kind == DecisionResult::Kind::expired;
    expired += is_late ? 1 : 0;
    EXPECT_EQ(arrived.size(), is_late ? 1u : 0u) << early;
    EXPECT_EQ(view(*runtime, thread).row.outcome, is_late ? "expired" : "done") << early;
    EXPECT_EQ(violations(graph), "");
    store.takes = 0ms;
  }
  EXPECT_GT(expired, 0);
  EXPECT_LT(expired, 7);
}

// The worker dies at its n-th commit, before or after that commit is stored; another one continues.
// Returns false once it has no such commit.
bool expires_through_a_crash(const Graph<Memo>& graph, int commit, bool lands) {
  MemoWorld world;
  auto first = world.office(graph);
  block_on(world.loop, first->start(graph, Memo{}, MemoWorld::named("t"))).value();
  std::size_t asked = world.view(*first).approvals.size();
  world.pass(1h);
  world.store.commits = 0;
  world.store.halt_at = commit;
  world.store.lands = lands;
  Spawned work = world.working(*first);
  world.pass(1min);
  bool has_died = world.store.commits >= commit;
  work.reset();
  first.reset();
  world.store.halt_at = 0;
  auto second = world.office(graph);
  Spawned again = world.working(*second);
  world.pass(1min);
  EXPECT_EQ(world.arrived.size(), asked);
  EXPECT_EQ(world.outbox().size(), asked);
  for (const OutboxRow& row : world.outbox()) EXPECT_EQ(row.status, OutboxStatus::delivered);
  EXPECT_EQ(world.view(*second).row.status, RunStatus::completed);
  EXPECT_EQ(world.violations(graph), "");
  again.reset();
  return has_died;
}

TEST_F(ExpiryDeliveries, AreNeitherLostNorAddedTwiceWhereverAProcessDies) {
  for (const Graph<Memo>& graph : {lone_memo(), wide_memo(3), outer_memo()}) {
    int commit = 0;
    for (bool has_died = true; has_died;) {
      ++commit;
      SCOPED_TRACE(graph.name() + " dies at commit " + std::to_string(commit));
      has_died = expires_through_a_crash(graph, commit, true);
      expires_through_a_crash(graph, commit, false);
    }
    EXPECT_GT(commit, 3) << graph.name();
  }
}

TEST_F(ExpiryDeliveries, AreNeitherMadeNorMissedByAReplay) {
  for (const Graph<Memo>& graph : {lone_memo(), wide_memo(3), outer_memo()}) {
    auto runtime = office(graph);
    block_on(loop, runtime->start(graph, Memo{}, named(graph.name()))).value();
    pass(1h);
    Spawned work = working(*runtime);
    pass(1min);
    std::size_t sent = outbox().size();
    int commits = store.commits;
    ReplayOptions options;
    options.thread = ThreadId(graph.name());
    ReplayReport report = block_on(loop, runtime->replay(options)).value();
    EXPECT_FALSE(report.divergence)
        << report.divergence->what << ": " << report.divergence->recorded << " / "
        << report.divergence->replayed;
    EXPECT_EQ(report.matching_commits, report.run.seq);
    EXPECT_EQ(store.commits, commits);
    EXPECT_EQ(outbox().size(), sent);
  }
}

TEST_F(ExpiryDeliveries, AreNotRepeatedByAForkFromACommitAfterTheExpiry) {
  GraphBuilder<Memo> builder{"closing"};
  builder.approval("review", &Memo::draft, asked_with("Send?")).approved(end).rejected("close");
  builder.node("close", log_node);
  builder.edge(start, "review").edge("close", end);
  Graph<Memo> graph = std::move(builder).build().value();
  auto runtime = office(graph);
  block_on(loop, runtime->start(graph, Memo{}, named("t"))).value();
  pass(1h);
  Spawned work = working(*runtime);
  pass(1min);
  expect_one_message_each(1);

  ForkOptions after;
  after.from = ThreadId("t");
  after.thread = ThreadId("after");
  after.seq = view(*runtime).row.seq - 1;
  EXPECT_THAT(block_on(loop, runtime->preview(after)).value().messages, IsEmpty());
  EXPECT_EQ(block_on(loop, runtime->fork(after)).value().row.status, RunStatus::completed);
  ForkOptions copy;
  copy.from = ThreadId("t");
  copy.thread = ThreadId("copy");
  copy.copy = true;
  EXPECT_EQ(block_on(loop, runtime->fork(copy)).value().row.status, RunStatus::completed);
  pass(1min);
  expect_one_message_each(1);

  // A fork from before the expiry requests another approval, whose expiry has its own message.
  ForkOptions before = after;
  before.thread = ThreadId("before");
  before.seq = 1;
  EXPECT_EQ(block_on(loop, runtime->preview(before)).value().messages.size(), 1u);
  EXPECT_EQ(block_on(loop, runtime->fork(before)).value().row.status, RunStatus::paused);
  work.reset();
  pass(1h);
  work = working(*runtime);
  pass(1min);
  ASSERT_EQ(arrived["Send?"].size(), 2u);
  EXPECT_NE(arrived["Send?"][0], arrived["Send?"][1]);
  EXPECT_EQ(violations(graph), "");
}

}  // namespace
}  // namespace belay
