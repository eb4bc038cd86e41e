// The totals of usage: exact after crashes, for several processes, and after a rebuild.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "belay/storage.h"
#include "driver/run_driver.h"
#include "store/forwarding_store.h"
#include "store/sqlite/connection.h"
#include "testing/inline_store.h"
#include "tests/conformance/temporary_folder.h"
#include "tests/support/runtime_fixture.h"
#include "usage/recording_store.h"
#include "usage/usage_flush.h"
#include "usage/usage_log.h"
#include "usage/usage_reads.h"
#include "usage/usage_rebuild.h"

namespace belay::usage {
namespace {

using analytics::UsageTotals;

struct Job {
  bool fails = false;
  int tries = 0;
};

Graph<Job> job_graph() {
  GraphBuilder<Job> graph{"job"};
  graph.node("work", [](const Job& job, Context& context) -> Task<Result<Update<Job>>> {
    (void)co_await context.model().complete("Write about it");
    if (job.fails) co_return error(ErrorCode::invalid, "The work failed.");
    co_return set(&Job::tries, 1);
  });
  graph.edge(start, "work").edge("work", end);
  return std::move(graph).build().value();
}

// A store whose commits can fail: nothing was written, or the reply was lost.
class FailingStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Task<Result<CommitOutcome>> commit(Commit commit) override {
    if (fails_before > 0 && fails_before-- > 0) {
      co_return error(ErrorCode::unavailable, "The store does not respond.");
    }
    auto outcome = co_await inner().commit(std::move(commit));
    if (fails_after > 0 && fails_after-- > 0) {
      co_return error(ErrorCode::uncertain, "The reply was lost.");
    }
    co_return std::move(outcome);
  }
  int fails_before = 0;
  int fails_after = 0;
};

class Usage : public ::testing::Test {
 protected:
  Usage() {
    model_.then_always([](const ModelRequest&) { return std::string("text"); });
    open_process();
  }
  void open_process() {
    runtime_.reset();  // before the store that it uses
    recording_ = make_recording_store(*store_);
    runtime_ = Runtime::open({*recording_, loop_, clock_, random_, model_}).value();
    runtime_->add(graph_);
  }
  RunRow run(bool fails) {
    Job input;
    input.fails = fails;
    return block_on(loop_, runtime_->start(graph_, input, StartOptions{})).value().row;
  }
  std::size_t flush(Store& store) {
    return block_on(loop_, flush_usage(store, clock_, default_tenant())).value();
  }
  void remove(const ThreadId& thread) {
    ASSERT_TRUE(block_on(loop_, delete_thread(*store_, default_tenant(), thread)).ok());
  }
  RebuildReport rebuild() {
    return block_on(loop_, rebuild_usage(*store_, clock_, default_tenant())).value();
  }
  UsageTotals totals() {
    auto records = store_records(*store_, clock_, default_tenant(), UserId());
    auto series = block_on(loop_, read_series(*records, "job", "2026-11-30", 30)).value();
    UsageTotals sum;
    for (const auto& day : series) sum.merge(day.totals);
    return sum;
  }
  std::size_t pending() {
    std::function<Result<std::size_t>(Snapshot&)> reader =
        [](Snapshot& view) -> Result<std::size_t> {
      BELAY_TRY(auto page, pending_page(view, default_tenant(), ""));
      return page.size();
    };
    return block_on(loop_, read<std::size_t>(*store_, std::move(reader))).value();
  }

  testing::SimulatedClock clock_{*instant_from("2026-11-28T12:00:00Z")};
  testing::SeededRandom random_{7};
  testing::SimulatedLoop loop_{clock_};
  testing::ScriptedModel model_;
  Graph<Job> graph_ = job_graph();
  std::unique_ptr<Store> store_ =
      std::make_unique<RepeatingStore>(open_memory_store(clock_, random_));
  std::unique_ptr<Store> recording_;
  std::unique_ptr<Runtime> runtime_;
};

TEST_F(Usage, CountsEachEndedRunOnceAsSuccessOrFailure) {
  EXPECT_EQ(run(false).status, RunStatus::completed);
  EXPECT_EQ(run(true).status, RunStatus::failed);
  EXPECT_EQ(totals().invocations(), 0) << "not before the flush";
  EXPECT_EQ(flush(*store_), 2u);
  EXPECT_EQ(flush(*store_), 0u);
  EXPECT_EQ(totals().success, 1);
  EXPECT_EQ(totals().failed, 1);
  EXPECT_EQ(totals().latency.count(), 2);
  EXPECT_EQ(totals().retries, 0) << "no attempt was repeated";
}

// The totals of the API, the view of the totals, and the view that computes from the runs.
TEST_F(Usage, OfFewRunsHasThePercentileOfAgentMetrics) {
  conformance::TemporaryFolder folder;
  const std::string path = folder.file("store.db");
  runtime_.reset();
  recording_.reset();
  store_ = std::make_unique<testing::InlineStore>(open_sqlite_store(path, clock_, random_).value());
  open_process();
  auto file = sqlite::Connection::open(path, sqlite::Connection::Mode::read_only).value();
  const std::string same_day =
      " FROM agent_metrics m JOIN agent_usage_analytics u ON u.agent_id = m.agent_type"
      " AND u.date = m.date";
  std::size_t runs = 0;
  for (int milliseconds : {5'024, 262, 31, 900, 4'000, 77}) {
    model_.takes(std::chrono::milliseconds(milliseconds));
    EXPECT_EQ(run(false).status, RunStatus::completed);
    EXPECT_EQ(flush(*store_), 1u);
    auto of_runs = file->number("SELECT m.p95_duration_ms" + same_day);
    ASSERT_TRUE(of_runs.ok()) << of_runs.error().message;
    EXPECT_EQ(*of_runs, 5'024) << ++runs << " runs";
    EXPECT_EQ(file->number("SELECT u.p95_latency_ms" + same_day).value(), *of_runs);
    EXPECT_EQ(totals().latency.p95(), static_cast<double>(*of_runs));
  }
  rebuild();
  EXPECT_EQ(file->number("SELECT u.p95_latency_ms" + same_day).value(), 5'024);
  runtime_.reset();
  recording_.reset();
  store_.reset();
}

TEST_F(Usage, IsKeptByACrashBetweenTheEndOfARunAndTheFlush) {
  run(false);
  runtime_.reset();
  open_process();
  EXPECT_EQ(flush(*store_), 1u);
  EXPECT_EQ(totals().invocations(), 1);
}

TEST_F(Usage, IsKeptIfAFlushFailsOrItsReplyIsLost) {
  for (int i = 0; i < 3; ++i) run(i == 0);
  FailingStore failing(*store_);
  failing.fails_before = 1;
  EXPECT_FALSE(block_on(loop_, flush_usage(failing, clock_, default_tenant())).ok());
  EXPECT_EQ(pending(), 3u);
  failing.fails_after = 1;
  EXPECT_FALSE(block_on(loop_, flush_usage(failing, clock_, default_tenant())).ok());
  EXPECT_EQ(flush(failing), 0u) << "the commit whose reply was lost was applied";
  EXPECT_EQ(totals().invocations(), 3);
  EXPECT_EQ(totals().failed, 1);
}

TEST_F(Usage, OfTwoProcessesThatFlushAtTheSameTimeIsCountedOnce) {
  for (int i = 0; i < 9; ++i) run(i % 3 == 0);
  std::size_t sum = 0;
  int ended = 0;
  auto done = [&](Result<std::size_t> count) {
    ASSERT_TRUE(count.ok()) << count.error().message;
    sum += *count;
    if (++ended == 2) loop_.stop();
  };
  Spawned one, other;
  loop_.post([&] {
    one = spawn<Result<std::size_t>>(loop_, flush_usage(*store_, clock_, default_tenant()), done);
    other = spawn<Result<std::size_t>>(loop_, flush_usage(*store_, clock_, default_tenant()), done);
  });
  loop_.run();
  EXPECT_EQ(ended, 2);
  EXPECT_EQ(sum, 9u);
  EXPECT_EQ(totals().invocations(), 9);
  EXPECT_EQ(totals().failed, 3);
}

TEST_F(Usage, IsRebuiltFromRunsThatNoStoreHasRecorded) {
  std::unique_ptr<Runtime> plain = Runtime::open({*store_, loop_, clock_, random_, model_}).value();
  plain->add(graph_);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(block_on(loop_, plain->start(graph_, Job{}, StartOptions{})).ok());
  }
  run(true);
  EXPECT_EQ(block_on(loop_, flush_all_usage(*store_, clock_)).value(), 0u)
      << "the rebuild of a store without totals includes the pending run";
  EXPECT_EQ(totals().success, 5);
  EXPECT_EQ(totals().failed, 1);
  EXPECT_EQ(pending(), 0u);
  UsageTotals before = totals();
  EXPECT_EQ(rebuild().replaced, 1u);
  EXPECT_EQ(totals(), before);
}

TEST_F(Usage, OfDeletedRunsRemains) {
  RunRow first = run(false);
  run(true);
  flush(*store_);
  remove(first.thread);
  EXPECT_EQ(rebuild().kept, 1u);
  EXPECT_EQ(totals().invocations(), 2);
  RunRow pruned = run(false);
  remove(pruned.thread);
  EXPECT_EQ(flush(*store_), 1u) << "it was deleted before its flush";
  EXPECT_EQ(totals().invocations(), 3);
}

TEST_F(Usage, OfRunsDeletedBeforeTheFirstRebuildIsCounted) {
  for (int i = 0; i < 3; ++i) remove(run(true).thread);
  run(false);
  EXPECT_EQ(block_on(loop_, flush_all_usage(*store_, clock_)).value(), 3u)
      << "the rebuild counts only the run that exists";
  EXPECT_EQ(totals().failed, 3);
  EXPECT_EQ(totals().success, 1);
  EXPECT_EQ(pending(), 0u);
}

TEST_F(Usage, OfDeletedRunsIsNotReplacedByPendingOnes) {
  std::vector<RunRow> runs;
  for (int i = 0; i < 4; ++i) runs.push_back(run(false));
  flush(*store_);
  remove(runs[0].thread);
  remove(runs[1].thread);
  for (int i = 0; i < 2; ++i) run(true);
  EXPECT_EQ(rebuild().kept, 1u);
  EXPECT_EQ(flush(*store_), 2u);
  EXPECT_EQ(totals().success, 4);
  EXPECT_EQ(totals().failed, 2);
}

TEST_F(Usage, OfARunDeletedBeforeItsFlushIsAddedToARebuiltDay) {
  run(false);
  flush(*store_);
  remove(run(true).thread);
  run(false);
  EXPECT_EQ(rebuild().replaced, 1u);
  EXPECT_EQ(pending(), 1u) << "that of the deleted run";
  EXPECT_EQ(totals().success, 2);
  EXPECT_EQ(flush(*store_), 1u);
  EXPECT_EQ(totals().failed, 1);
}

TEST_F(Usage, IsIndependentOfTheOrderOfEndsFlushesFailuresDeletionsAndRebuilds) {
  EXPECT_TRUE(rc::check("the totals are those of the runs", [this] {
    runtime_.reset();
    store_ = std::make_unique<RepeatingStore>(open_memory_store(clock_, random_));
    open_process();
    FailingStore failing(*store_);
    std::int64_t success = 0, failed = 0;
    std::vector<ThreadId> threads;
    // Short lists, too, have all steps: unlike those of inRange.
    auto any_step = rc::gen::element(0, 1, 2, 3, 4, 5, 6, 7);
    for (int step : *rc::gen::container<std::vector<int>>(std::move(any_step))) {
      if (step <= 1) {
        bool fails = step == 1;
        threads.push_back(run(fails).thread);
        ++(fails ? failed : success);
      }
      if (step == 2) flush(*store_);
      if (step == 3) open_process();
      if (step == 4) rebuild();
      if (step == 5) failing.fails_before = 1;
      if (step == 6) failing.fails_after = 1;
      if (step == 7 && !threads.empty()) {
        std::swap(threads[threads.size() / 2], threads.back());
        remove(threads.back());
        threads.pop_back();
      }
      if (step == 5 || step == 6)
        (void)block_on(loop_, flush_usage(failing, clock_, default_tenant()));
    }
    flush(*store_);
    RC_ASSERT(totals().success == success);
    RC_ASSERT(totals().failed == failed);
    RC_ASSERT(totals().latency.count() == success + failed);
  }));
}

}  // namespace
}  // namespace belay::usage
