// Random runs over queues, keys, users and tenants, with several workers that can die: no commit
// ever exceeds a limit, every user's runs are executed, and every run ends.

#include <gtest/gtest.h>

#include "belay/check.h"
#include "belay/runtime.h"
#include "belay/testing.h"
#include "store/forwarding_store.h"

namespace belay {
namespace {

using namespace std::chrono_literals;

struct Parcel {
  std::string name{};
  std::int64_t rest_ms = 0;
  int stops = 0;
};

// Counts the running runs after every applied commit.
class WatchedStore final : public ForwardingStore {
 public:
  WatchedStore(Store& inner, ConcurrencyLimits limits) : ForwardingStore(inner), limits_(limits) {}

  Task<Result<CommitOutcome>> commit(Commit commit) override {
    TenantId tenant = commit.tenant;
    auto outcome = co_await inner().commit(std::move(commit));
    if (!outcome.ok()) co_return std::move(outcome);
    if (*outcome == CommitOutcome::limit_reached) ++refused;
    if (*outcome != CommitOutcome::applied) co_return std::move(outcome);
    std::function<Result<Done>(Snapshot&)> look = [this, tenant](Snapshot& view) {
      return look_at(view, tenant);
    };
    auto looked = co_await inner().read(std::move(look));
    if (!looked.ok()) ADD_FAILURE() << looked.error().message;
    co_return std::move(outcome);
  }

  int refused = 0;

 private:
  Result<Done> look_at(Snapshot& view, const TenantId& tenant) {
    for (auto [of, limit] : {std::pair(ConcurrencyScope::user, limits_.per_user),
                             std::pair(ConcurrencyScope::key, limits_.per_key),
                             std::pair(ConcurrencyScope::queue, limits_.per_queue)}) {
      BELAY_TRY(auto counts, view.running_counts(tenant, of));
      for (const ConcurrencyCount& count : counts) {
        EXPECT_LE(count.running, limit) << name_of(of) << " " << count.scope_key;
      }
    }
    return Done{};
  }

  const ConcurrencyLimits limits_;
};

struct QueuesUnderCrashes : ::testing::TestWithParam<std::uint64_t> {
  testing::SimulatedClock clock{*instant_from("2026-11-21T12:00:00Z")};
  testing::SeededRandom random{GetParam()};
  testing::SimulatedLoop loop{clock};
  testing::ScriptedModel model;
  ConcurrencyLimits limits{.per_user = 3, .per_key = 1, .per_queue = 4};
  std::unique_ptr<Store> kept = open_memory_store(clock, random);
  WatchedStore store{*kept, limits};
  std::map<std::string, Instant> ended;
  Graph<Parcel> graph = parcel_graph();
  std::vector<TenantId> tenants{TenantId("one"), TenantId("two")};

  Graph<Parcel> parcel_graph() {
    GraphBuilder<Parcel> builder{"parcel"};
    for (const char* name : {"fetch", "bring"}) {
      builder.node(name, [this](const Parcel& parcel, Context& context) -> Task<Update<Parcel>> {
        co_await sleep_for(std::chrono::milliseconds(parcel.rest_ms));
        ended[context.thread().text] = clock.now();
        co_return add(&Parcel::stops, 1);
      });
    }
    builder.edge(start, "fetch").edge("fetch", "bring").edge("bring", end);
    return std::move(builder).build().value();
  }

  std::uint64_t upto(std::uint64_t n) { return random.bits() % n; }

  struct Worker {
    std::unique_ptr<Runtime> runtime;
    Spawned task;
  };
  std::unique_ptr<Runtime> opened() {
    RuntimeParts parts{store, loop, clock, random, model};
    parts.concurrency = limits;
    auto runtime = Runtime::open(std::move(parts)).value();
    runtime->add(graph);
    return runtime;
  }
  std::unique_ptr<Worker> worker(const TenantId& tenant, bool of_all_queues = false) {
    auto made = std::make_unique<Worker>();
    made->runtime = opened();
    WorkerOptions options;
    options.tenant = tenant;
    if (!of_all_queues && upto(3) == 0) options.queues = {"slow", "default"};
    loop.post([this, options, at = made.get()] {
      at->task = spawn<Result<std::size_t>>(loop, at->runtime->run_worker(options),
                                            [](Result<std::size_t>) {});
    });
    return made;
  }

  void enqueue(Runtime& runtime, const TenantId& tenant, std::string thread, StartOptions options) {
    Parcel parcel;
    parcel.rest_ms = static_cast<std::int64_t>(upto(900)) + 10;
    options.tenant = tenant;
    options.thread = ThreadId(std::move(thread));
    Instant when = clock.now() + std::chrono::milliseconds(upto(3) == 0 ? upto(5'000) : 0);
    auto view = block_on(loop, runtime.enqueue(graph, parcel, std::move(options), when));
    ASSERT_TRUE(view.ok()) << view.error().message;
  }

  void check(const TenantId& tenant, std::size_t runs) {
    CheckScope scope;
    scope.tenant = tenant;
    scope.graphs = {graph.definition()};
    scope.concurrency = limits;
    auto report = block_on(loop, check_store(store, std::move(scope))).value();
    EXPECT_EQ(report.runs, runs);
    for (const Violation& each : report.violations) ADD_FAILURE() << each.rule << each.message;
  }
};

TEST_P(QueuesUnderCrashes, NoLimitIsExceededNobodyStarvesAndEveryRunEnds) {
  constexpr int runs = 40;
  auto client = opened();
  for (int i = 0; i < runs; ++i) {
    for (const TenantId& tenant : tenants) {
      StartOptions options;
      // Most runs belong to one user.
      options.user = UserId(upto(10) < 7 ? "flood" : "user" + std::to_string(upto(3)));
      options.queue = std::vector{"default", "slow", "mail"}[upto(3)];
      options.priority = static_cast<std::int64_t>(upto(3)) - 1;
      if (upto(2) == 0) options.concurrency_key = "key" + std::to_string(upto(4));
      enqueue(*client, tenant, tenant.text + std::to_string(i), options);
    }
  }
  StartOptions late;
  late.user = UserId("late");
  for (const TenantId& tenant : tenants) enqueue(*client, tenant, tenant.text + "late", late);
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < 2; ++i) {
    for (const TenantId& tenant : tenants) workers.push_back(worker(tenant));
  }
  for (int crash = 0; crash < 4; ++crash) {
    loop.run_until(clock.now() + std::chrono::milliseconds(upto(4'000)));
    std::size_t victim = upto(workers.size());
    workers[victim].reset();
    check(tenants[victim % 2], runs + 1);
    workers[victim] = worker(tenants[victim % 2]);
  }
  // It might be that none of the other workers serves the queue "mail".
  for (const TenantId& tenant : tenants) workers.push_back(worker(tenant, true));
  loop.run_until(clock.now() + 10min);
  for (const TenantId& tenant : tenants) {
    EXPECT_EQ(ended.size(), tenants.size() * (runs + 1));
    std::size_t before = 0;
    Instant when = ended[tenant.text + "late"];
    for (int i = 0; i < runs; ++i) before += ended[tenant.text + std::to_string(i)] < when ? 1 : 0;
    EXPECT_LT(before, static_cast<std::size_t>(runs)) << "the last to come had to wait for all";
    RunFilter unfinished;
    unfinished.tenant = tenant;
    unfinished.statuses = {RunStatus::queued, RunStatus::running, RunStatus::paused,
                           RunStatus::failed, RunStatus::quarantined};
    std::function<Result<std::vector<RunRow>>(Snapshot&)> reader = [unfinished](Snapshot& view) {
      return view.runs(unfinished);
    };
    auto left = block_on(loop, read<std::vector<RunRow>>(store, std::move(reader))).value();
    EXPECT_TRUE(left.empty()) << left.size() << " runs have not ended";
    for (const RunRow& row : left) {
      ADD_FAILURE() << row.thread.text << " of " << row.user.text << ", key " << row.concurrency_key
                    << ", queue " << row.queue << ": " << name_of(row.status) << " " << row.reason
                    << " due " << to_text(row.due_at) << " at " << to_text(clock.now());
    }
    check(tenant, runs + 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, QueuesUnderCrashes, ::testing::Range<std::uint64_t>(1, 13));

}  // namespace
}  // namespace belay
