// The observed store: what it logs and counts about the runs of a runtime.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/runtime.h"
#include "belay/storage.h"
#include "belay/testing.h"
#include "store/forwarding_store.h"
#include "tests/support/collected_log.h"

namespace belay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Job {
  bool fails = false;
  int done = 0;
};

Graph<Job> task_graph() {
  GraphBuilder<Job> graph{"task"};
  graph.node("work", [](const Job& task, Context&) -> Result<Update<Job>> {
    if (task.fails) return error(ErrorCode::invalid, "The work failed.");
    return set(&Job::done, 1);
  });
  graph.edge(start, "work").edge("work", end);
  return std::move(graph).build().value();
}

class ObservedRuns : public ::testing::Test {
 protected:
  ObservedRuns() {
    alert_.runs_min = 4;
    observed_ = make_observed_store(*store_, clock_, {&log_, metrics_.get()}, alert_);
    runtime_ = Runtime::open({*observed_, *loop_, clock_, *random_, model_}).value();
    runtime_->add(graph_);
  }
  RunView run(bool fails) {
    Job input;
    input.fails = fails;
    return block_on(*loop_, runtime_->start(graph_, input, StartOptions{})).value();
  }
  void poll() {
    PollFilter filter;
    filter.tenant = default_tenant();
    filter.now = clock_.now();
    filter.limit = 1;
    EXPECT_TRUE(block_on(*loop_, observed_->poll_runs(std::move(filter))).ok());
  }

  testing::SimulatedClock clock_{*instant_from("2026-11-26T12:00:00Z")};
  std::unique_ptr<Random> random_ = system_random();
  std::unique_ptr<EventLoop> loop_ = make_event_loop();
  std::unique_ptr<Store> store_ = open_memory_store(clock_, *random_);
  CollectedLog log_;
  std::unique_ptr<Metrics> metrics_ = make_metrics();
  FailureAlert alert_;
  std::unique_ptr<Store> observed_;
  testing::ScriptedModel model_;
  Graph<Job> graph_ = task_graph();
  std::unique_ptr<Runtime> runtime_;
};

TEST_F(ObservedRuns, AreLoggedFromTheirCommits) {
  EXPECT_EQ(run(false).row.status, RunStatus::completed);
  RunView failed = run(true);
  EXPECT_EQ(failed.row.status, RunStatus::failed);
  EXPECT_THAT(log_.events(),
              ElementsAre("run.started", "run.completed", "run.started", "run.failed"));
  const LogEntry& entry = log_.entries.back();
  EXPECT_EQ(entry.level, LogLevel::error);
  EXPECT_EQ(entry.message, "The work failed.");
  EXPECT_EQ(CollectedLog::field(entry, "run"), failed.row.run.text());
  EXPECT_EQ(CollectedLog::field(entry, "thread"), failed.row.thread.text);
  EXPECT_EQ(CollectedLog::field(entry, "node"), "work");
  EXPECT_EQ(CollectedLog::field(entry, "code"), "invalid");
  EXPECT_THAT(metrics_->text(),
              HasSubstr("belay_runs_ended_total{agent=\"task\",status=\"failed\"} 1\n"));
  EXPECT_THAT(metrics_->text(), HasSubstr("belay_runs_started_total{agent=\"task\"} 2\n"));
}

TEST_F(ObservedRuns, ThatFailOftenRaiseAnAlertThatClearsWithoutFurtherRuns) {
  for (int i = 0; i < 3; ++i) run(true);
  EXPECT_THAT(log_.events(), ::testing::Not(::testing::Contains("alert.failure_rate")));
  run(true);
  EXPECT_EQ(log_.entries.back().event, "alert.failure_rate");
  EXPECT_EQ(CollectedLog::field(log_.entries.back(), "failed"), "4");
  EXPECT_THAT(metrics_->text(), HasSubstr("belay_failure_rate_alert 1\n"));
  poll();
  EXPECT_EQ(log_.entries.back().event, "alert.failure_rate");
  clock_.move(std::chrono::minutes(16));
  poll();
  EXPECT_EQ(log_.entries.back().event, "alert.failure_rate_cleared");
  EXPECT_THAT(metrics_->text(), HasSubstr("belay_failure_rate_alert 0\n"));
}

TEST_F(ObservedRuns, ThatAreDeletedAreCounted) {
  RunView ended = run(false);
  auto deleted = block_on(*loop_, delete_thread(*observed_, default_tenant(), ended.row.thread));
  ASSERT_TRUE(deleted.ok());
  EXPECT_EQ(log_.entries.back().event, "runs.deleted");
  EXPECT_EQ(CollectedLog::field(log_.entries.back(), "runs"), "1");
}

// A store that can be unavailable.
class AwayStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Task<Result<Done>> read(Reader reader) override {
    if (is_away) co_return error(ErrorCode::unavailable, "The store does not respond.");
    co_return co_await inner().read(std::move(reader));
  }
  bool is_away = false;
};

TEST_F(ObservedRuns, OfAStoreThatIsUnavailableAreOneErrorAndItsEnd) {
  AwayStore away(*store_);
  auto observed = make_observed_store(away, clock_, {&log_, metrics_.get()}, alert_);
  auto read = [&] {
    return block_on(*loop_, observed->read([](Snapshot&) -> Result<Done> { return Done{}; })).ok();
  };
  EXPECT_TRUE(read());
  away.is_away = true;
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(read());
  away.is_away = false;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(read());
  EXPECT_THAT(log_.events(), ElementsAre("store.failed", "store.recovered"));
  EXPECT_EQ(log_.entries[0].level, LogLevel::error);
  EXPECT_EQ(log_.entries[0].message, "The store does not respond.");
  EXPECT_EQ(CollectedLog::field(log_.entries[0], "code"), "unavailable");
}

TEST_F(ObservedRuns, DoNotTakeARefusalOfAReaderForAFailureOfTheStore) {
  auto refused = block_on(*loop_, observed_->read([](Snapshot&) -> Result<Done> {
    return error(ErrorCode::not_found, "Unknown run.");
  }));
  EXPECT_FALSE(refused.ok());
  EXPECT_THAT(log_.events(), ElementsAre());
}

}  // namespace
}  // namespace belay
