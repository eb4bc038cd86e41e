#pragma once
// tests/support/crashing_store_fixture.h - test fixture whose process dies at a chosen commit.

#include <gtest/gtest.h>

#include "belay/runtime.h"
#include "belay/testing.h"
#include "store/forwarding_store.h"

namespace belay {

// Counts the commits of a store. Can stop returning from a chosen commit on, as if the process had
// died: before that commit reaches the store, or after it.
class HaltingStore final : public ForwardingStore {
 public:
  explicit HaltingStore(Store& inner) : ForwardingStore(inner) {}
  Task<Result<CommitOutcome>> commit(Commit commit) override {
    ++commits;
    if (commit.run_guard && !commit.run_guard->pending_for.is_null()) ++pending;
    if (takes.count() > 0) co_await sleep_for(takes);
    bool halts = halt_at > 0 && commits >= halt_at;
    if (halts && !lands) co_return co_await never_;
    auto outcome = co_await inner().commit(std::move(commit));
    if (halts) co_return co_await never_;
    co_return std::move(outcome);
  }
  bool accepts_commits() const override { return is_usable; }
  bool lease_is_fresh() const override { return is_sure; }

  int commits = 0;
  int pending = 0;
  int halt_at = 0;
  bool lands = true;
  bool is_usable = true;
  bool is_sure = true;  // lease_is_fresh()
  std::chrono::milliseconds takes{0};

 private:
  Completion<Result<CommitOutcome>> never_;
};

struct CrashingStoreFixture : ::testing::Test {
  testing::SimulatedClock clock{*instant_from("2026-11-21T12:00:00Z")};
  testing::SeededRandom random{7};
  testing::SimulatedLoop loop{clock};
  testing::ScriptedModel model;
  std::unique_ptr<Store> kept = open_memory_store(clock, random);
  HaltingStore store{*kept};

  PromptRedactor redact_prompt;
  Hints hints;
  ConcurrencyLimits places{.per_key = 1};

  std::unique_ptr<Runtime> process() {
    RuntimeParts parts{store, loop, clock, random, model};
    parts.concurrency = places;
    parts.redact_prompt = redact_prompt;
    parts.hints = hints;
    return Runtime::open(std::move(parts)).value();
  }
  template <typename State>
  std::unique_ptr<Runtime> process(const Graph<State>& graph) {
    auto runtime = process();
    runtime->add(graph);
    return runtime;
  }

  // The journal of the run: its effects and model calls.
  std::vector<EffectRow> recorded(const RunView& view) {
    return rows_of(view.row.run, &Snapshot::effects);
  }

  // The first page of the rows of a run: rows_of(run, &Snapshot::events).
  template <typename Row, typename Filter>
  std::vector<Row> rows_of(RunId run, Result<std::vector<Row>> (Snapshot::*list)(const Filter&)) {
    std::function<Result<std::vector<Row>>(Snapshot&)> reader = [run, list](Snapshot& snapshot) {
      Filter filter;
      filter.tenant = default_tenant();
      filter.run = run;
      return (snapshot.*list)(filter);
    };
    return block_on(loop, read<std::vector<Row>>(store, std::move(reader))).value();
  }

  // Runs the graph, with the defaults of its state, in a process that dies at its n-th commit,
  // before or after that commit is stored; then continues the run in a second process.
  template <typename State>
  Result<RunView> run_with_crash(const Graph<State>& graph, int commit, bool lands,
                                 RunOptions options = {}) {
    store.commits = 0;
    store.halt_at = commit;
    store.lands = lands;
    auto first = process(graph);
    StartOptions start_options;
    start_options.thread = ThreadId(random_uuid(random).text());
    start_options.run = options;
    std::optional<Result<RunView>> ended;
    Spawned spawned;
    loop.post([&] {
      spawned = spawn<Result<RunView>>(loop, first->start(graph, defaults<State>(), start_options),
                                       [&](Result<RunView> view) { ended = std::move(view); });
    });
    loop.run_until(clock.now() + std::chrono::hours(1));
    store.halt_at = 0;
    if (ended) return *std::move(ended);
    spawned.reset();
    first.reset();
    auto second = process(graph);
    return block_on(loop, second->start(graph, defaults<State>(), start_options));
  }

  template <typename State>
  static State defaults() {
    if constexpr (std::is_same_v<State, Value>) return Value::Object();
    return State{};
  }
};

}  // namespace belay
