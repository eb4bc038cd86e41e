// Tests queues, and concurrency limits of users, keys and queues over all processes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/check.h"
#include "tests/support/crashing_store_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Errand {
  std::string name{};
  bool asks = false;
  bool awaiting = false;
};

// Counts running runs by name, and the maximum of each count.
struct Gauge {
  std::map<std::string, int> now;
  std::map<std::string, int> most;
  void enter(const std::string& name) { most[name] = std::max(most[name], ++now[name]); }
  void leave(const std::string& name) { --now[name]; }
};

struct Queues : CrashingStoreFixture {
  Gauge by_user;
  Gauge by_name;
  std::vector<std::string> order;
  ConcurrencyLimits limits{.per_key = 1};

  Graph<Errand> errand_graph() {
    GraphBuilder<Errand> builder{"errand"};
    builder.approval("review", &Errand::name, {.question = "Shall it go on?"})
        .when([](const Errand& errand) { return errand.asks; })
        .approved("work")
        .rejected(end)
        .pending_flag(&Errand::awaiting);
    builder.node("work", [this](const Errand& errand, Context& context) -> Task<Update<Errand>> {
      std::string user = context.user().text;
      order.push_back(context.thread().text);
      by_user.enter(user);
      by_name.enter(errand.name);
      co_await sleep_for(1s);
      by_user.leave(user);
      by_name.leave(errand.name);
      co_return unchanged<Errand>();
    });
    builder.edge(start, "review").edge("work", end);
    return std::move(builder).build().value();
  }
  Graph<Errand> graph = errand_graph();

  std::unique_ptr<Runtime> opened() {
    RuntimeParts parts{store, loop, clock, random, model};
    parts.concurrency = limits;
    auto runtime = Runtime::open(std::move(parts)).value();
    runtime->add(graph);
    return runtime;
  }

  static StartOptions options(std::string thread, std::string key = "") {
    StartOptions options;
    options.thread = ThreadId(std::move(thread));
    options.concurrency_key = std::move(key);
    return options;
  }
  static Errand named(std::string name) {
    Errand errand;
    errand.name = std::move(name);
    return errand;
  }
  Result<RunView> enqueue(Runtime& runtime, std::string name, StartOptions options) {
    return block_on(loop, runtime.enqueue(graph, named(std::move(name)), options, Instant{}));
  }
  RunRow row(Runtime& runtime, std::string thread) {
    auto view = block_on(loop, runtime.status(default_tenant(), ThreadId(std::move(thread))));
    return view.value().row;
  }
  Result<Done> put(QueueRow row) {
    Commit commit;
    row.tenant = commit.tenant = default_tenant();
    commit.rows.queues.push_back(std::move(row));
    auto outcome = block_on(loop, store.commit(std::move(commit)));
    if (!outcome.ok()) return outcome.error();
    return Done{};
  }

  struct Worker {
    std::unique_ptr<Runtime> runtime;
    Spawned task;
  };
  std::unique_ptr<Worker> worker(WorkerOptions options = {}) {
    auto made = std::make_unique<Worker>();
    made->runtime = opened();
    loop.post([this, options, at = made.get()] {
      at->task = spawn<Result<std::size_t>>(loop, at->runtime->run_worker(options),
                                            [](Result<std::size_t>) {});
    });
    return made;
  }
  void pass(std::chrono::microseconds time) { loop.run_until(clock.now() + time); }
};

TEST_F(Queues, AKeyIsOneRunAtATimeOverAllProcesses) {
  auto client = opened();
  for (int i = 0; i < 6; ++i) {
    std::string key = i % 2 == 0 ? "even" : "odd";
    enqueue(*client, key, options("t" + std::to_string(i), key)).value();
  }
  auto one = worker();
  auto other = worker();
  pass(1500ms);
  EXPECT_EQ(order.size(), 4u) << "two keys at a time";
  pass(1min);
  EXPECT_EQ(order.size(), 6u);
  EXPECT_EQ(by_name.most["even"], 1);
  EXPECT_EQ(by_name.most["odd"], 1);
}

TEST_F(Queues, AUserWithManyRunsIsNotInTheWayOfOthers) {
  limits.per_user = 2;
  auto client = opened();
  for (int i = 0; i < 40; ++i) {
    enqueue(*client, "many", options("many" + std::to_string(i))).value();
  }
  StartOptions few = options("few");
  few.user = UserId("ben");
  enqueue(*client, "few", few).value();
  auto one = worker();
  auto other = worker();
  pass(2s);
  EXPECT_EQ(row(*client, "few").status, RunStatus::completed);
  pass(1min);
  EXPECT_EQ(order.size(), 41u);
  EXPECT_EQ(by_user.most["local"], 2);
}

TEST_F(Queues, GreaterPrioritiesGoFirst) {
  auto client = opened();
  limits.per_tenant = 1;
  for (int i = 0; i < 4; ++i) {
    StartOptions one = options("t" + std::to_string(i));
    one.priority = i;
    enqueue(*client, "x", one).value();
    clock.move(1ms);
  }
  auto only = worker();
  pass(1min);
  EXPECT_THAT(order, ElementsAre("t3", "t2", "t1", "t0"));
}

TEST_F(Queues, AWorkerTakesOnlyFromItsQueues) {
  auto client = opened();
  for (const char* name : {"a", "b", "c"}) {
    StartOptions one = options(name);
    one.queue = name;
    enqueue(*client, name, one).value();
  }
  WorkerOptions some;
  some.queues = {"a", "c"};
  auto only = worker(some);
  pass(1min);
  EXPECT_EQ(row(*client, "a").status, RunStatus::completed);
  EXPECT_EQ(row(*client, "b").status, RunStatus::queued);
  EXPECT_EQ(row(*client, "c").status, RunStatus::completed);
}

TEST_F(Queues, NothingIsTakenFromAPausedQueue) {
  auto client = opened();
  enqueue(*client, "x", options("t")).value();
  put({.name = "default", .paused = true}).value();
  auto only = worker();
  pass(1min);
  EXPECT_EQ(row(*client, "t").status, RunStatus::queued);
  put({.name = "default"}).value();
  pass(1min);
  EXPECT_EQ(row(*client, "t").status, RunStatus::completed);
}

TEST_F(Queues, AQueuesOwnLimitCounts) {
  put({.name = "default", .runs_max = 2}).value();
  auto client = opened();
  for (int i = 0; i < 6; ++i) enqueue(*client, "x", options("t" + std::to_string(i))).value();
  auto one = worker();
  auto other = worker();
  pass(1min);
  EXPECT_EQ(order.size(), 6u);
  EXPECT_EQ(by_name.most["x"], 2);
}

TEST_F(Queues, AStartWithoutAPlaceIsToldToComeAgain) {
  auto client = opened();
  enqueue(*client, "x", options("first", "key")).value();
  auto only = worker();
  pass(500ms);
  auto refused = block_on(loop, client->start(graph, named("x"), options("second", "key")));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(refused.error().retry_after);
  EXPECT_THAT(refused.error().message, HasSubstr("concurrency key limit 1"));
  EXPECT_FALSE(block_on(loop, client->status(default_tenant(), ThreadId("second"))).ok())
      << "nothing was written";
  pass(2s);
  auto done = block_on(loop, client->start(graph, named("x"), options("second", "key")));
  EXPECT_EQ(done.value().row.status, RunStatus::completed);
}

TEST_F(Queues, ADecisionWithoutAPlaceIsTakenAndItsRunGoesOnFromTheQueue) {
  auto client = opened();
  Errand asking = named("asks");
  asking.asks = true;
  auto paused = block_on(loop, client->start(graph, asking, options("asks", "key"))).value();
  ASSERT_EQ(paused.row.status, RunStatus::paused);
  enqueue(*client, "x", options("busy", "key")).value();
  auto only = worker();
  pass(500ms);
  ASSERT_EQ(row(*client, "busy").status, RunStatus::running);
  Decision decision;
  decision.approved = true;
  decision.decided_by = "ana";
  auto answer = block_on(
      loop, client->decide(default_tenant(), paused.approval->interrupt, std::move(decision)));
  EXPECT_EQ(answer.value().kind, DecisionResult::Kind::accepted);
  EXPECT_EQ(answer.value().view.row.status, RunStatus::queued);
  EXPECT_EQ(answer.value().approval.status, ApprovalStatus::approved);
  pass(1min);
  EXPECT_EQ(row(*client, "asks").status, RunStatus::completed);
  CheckScope scope;
  scope.graphs = {graph.definition()};
  auto report = block_on(loop, check_store(store, std::move(scope))).value();
  EXPECT_TRUE(report.violations.empty()) << report.violations.front().message;
  ReplayOptions replayed;
  replayed.thread = ThreadId("asks");
  auto again = block_on(loop, client->replay(replayed)).value();
  EXPECT_FALSE(again.divergence) << again.divergence->what;
}

TEST_F(Queues, AWorkerForEveryTenantGivesEachItsTurns) {
  auto client = opened();
  auto begin = [&](const char* tenant, int runs) {
    for (int i = 0; i < runs; ++i) {
      StartOptions one = options(tenant + std::to_string(i));
      one.tenant = TenantId(tenant);
      enqueue(*client, "x", one).value();
    }
  };
  begin("many", 60);
  begin("few", 5);
  begin("heavy", 30);
  WorkerOptions every;
  every.tenant.reset();
  every.runs_max = 1;
  every.weights = {{TenantId("heavy"), 3}};
  auto only = worker(every);
  pass(10min);
  ASSERT_EQ(order.size(), 95u);
  // While all three have queued runs, five consecutive runs are one of each, and two more of the
  // heavy one.
  std::map<std::string, int> of;
  for (int i = 0; i < 25; ++i) ++of[order[i].substr(0, 3)];
  EXPECT_EQ(of["few"], 5);
  EXPECT_EQ(of["man"], 5);
  EXPECT_EQ(of["hea"], 15);
}

TEST_F(Queues, AWorkerForEveryTenantTakesOverWhatAnyOfThemLost) {
  auto client = opened();
  StartOptions theirs = options("theirs");
  theirs.tenant = TenantId("another");
  enqueue(*client, "x", theirs).value();
  WorkerOptions every;
  every.tenant.reset();
  auto lost = worker(every);
  pass(500ms);
  lost.reset();
  auto other = worker(every);
  pass(1min);
  auto view = block_on(loop, client->status(theirs.tenant, theirs.thread)).value();
  EXPECT_EQ(view.row.status, RunStatus::completed);
  EXPECT_EQ(view.row.lost_claims, 0);
}

TEST_F(Queues, AWorkerTakesOverOnlyWhatItsQueuesLost) {
  auto client = opened();
  StartOptions theirs = options("theirs");
  theirs.queue = "b";
  enqueue(*client, "x", theirs).value();
  auto lost = worker();
  pass(500ms);
  lost.reset();
  WorkerOptions of_a;
  of_a.queues = {"a"};
  auto other = worker(of_a);
  pass(1min);
  EXPECT_EQ(row(*client, "theirs").status, RunStatus::running) << "nobody has taken it over";
  WorkerOptions of_b;
  of_b.queues = {"b"};
  auto right = worker(of_b);
  pass(1min);
  EXPECT_EQ(row(*client, "theirs").status, RunStatus::completed);
}

TEST_F(Queues, AWorkerForOneTenantLeavesTheOthers) {
  auto client = opened();
  StartOptions theirs = options("theirs");
  theirs.tenant = TenantId("another");
  enqueue(*client, "x", theirs).value();
  auto ours = worker();
  pass(1min);
  EXPECT_TRUE(order.empty());
}

TEST_F(Queues, ARunThatIsTakenOverKeepsItsPlace) {
  auto client = opened();
  enqueue(*client, "x", options("first", "key")).value();
  enqueue(*client, "x", options("second", "key")).value();
  auto lost = worker();
  pass(500ms);
  lost.reset();
  auto other = worker();
  pass(900ms);
  EXPECT_EQ(row(*client, "first").status, RunStatus::running);
  EXPECT_EQ(row(*client, "second").status, RunStatus::queued);
  pass(1min);
  EXPECT_EQ(row(*client, "second").status, RunStatus::completed);
}

TEST_F(Queues, AForkKeepsTheQueueAndMayWaitInIt) {
  auto client = opened();
  StartOptions first = options("first", "key");
  first.queue = "slow";
  first.priority = 3;
  block_on(loop, client->start(graph, named("x"), first)).value();
  ForkOptions fork;
  fork.from = ThreadId("first");
  fork.thread = ThreadId("again");
  fork.queued = true;
  auto queued = block_on(loop, client->fork(fork)).value();
  EXPECT_EQ(queued.row.status, RunStatus::queued);
  EXPECT_EQ(queued.row.queue, "slow");
  EXPECT_EQ(queued.row.priority, 3);
  EXPECT_EQ(queued.row.concurrency_key, "key");
  EXPECT_EQ(order.size(), 1u);
  auto only = worker();
  pass(1min);
  EXPECT_EQ(row(*client, "again").status, RunStatus::completed);
  EXPECT_EQ(order.size(), 2u);
}

}  // namespace
}  // namespace belay
