#include "service/thread_history.h"

#include "tests/support/service_fixture.h"

namespace belay {
namespace {

// A thread with three runs: two have failed, the last one waits for a decision.
class ThreadHistory : public ServiceFixture {
 protected:
  ThreadHistory() {
    for (const char* item : {"stone", "stone", "a hat"}) runs_.push_back(began("t", item).row.run);
  }

  std::vector<RunHistory> page(HistoryPage wanted) {
    wanted.thread = ThreadId("t");
    return wait(service_->history(local_program, std::move(wanted))).value();
  }

  using Commits = std::vector<std::pair<RunId, std::uint64_t>>;
  static Commits commits_of(const std::vector<RunHistory>& history) {
    Commits commits;
    for (const RunHistory& each : history) {
      for (const CheckpointRow& row : each.checkpoints) commits.emplace_back(each.run.run, row.seq);
    }
    return commits;
  }

  std::vector<RunId> runs_;  // oldest first
};

TEST_F(ThreadHistory, HasTheRunsNewestFirst) {
  auto history = page({});
  ASSERT_EQ(history.size(), 3u);
  for (std::size_t i = 0; i < history.size(); ++i) {
    EXPECT_EQ(history[i].run.run, runs_[2 - i]);
    EXPECT_EQ(history[i].checkpoints.front().seq, history[i].run.seq);
    EXPECT_EQ(history[i].checkpoints.back().seq, 1u);
  }
  EXPECT_FALSE(end_of_page(history, 100));
}

TEST_F(ThreadHistory, InPagesOfAnySizeIsTheSame) {
  Commits all = commits_of(page({}));
  for (std::size_t limit = 1; limit <= all.size(); ++limit) {
    Commits together;
    HistoryPage next;
    next.limit = limit;
    for (bool is_last = false; !is_last;) {
      auto some = page(next);
      for (const auto& commit : commits_of(some)) together.push_back(commit);
      auto last = end_of_page(some, limit);
      is_last = !last;
      if (!last) break;
      next.before_run = last->run;
      next.before_seq = last->seq;
    }
    EXPECT_EQ(together, all) << limit;
  }
}

TEST_F(ThreadHistory, OfOneRunHasItsCommitsAlone) {
  HistoryPage wanted;
  wanted.run = runs_[1];
  auto history = page(wanted);
  ASSERT_EQ(history.size(), 1u);
  EXPECT_EQ(history[0].run.run, runs_[1]);
  EXPECT_EQ(history[0].checkpoints.size(), history[0].run.seq);
}

TEST_F(ThreadHistory, OfARunOfAnotherThreadIsNotFound) {
  RunId other = began("other", "a cat").row.run;
  HistoryPage wanted;
  wanted.thread = ThreadId("t");
  wanted.run = other;
  HistoryPage before = wanted;
  before.run = std::nullopt;
  before.before_run = other;
  before.before_seq = 2;
  for (const HistoryPage& each : {wanted, before}) {
    auto refused = wait(service_->history(local_program, each));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::not_found);
    EXPECT_NE(refused.error().message.find(other.text()), std::string::npos);
  }
}

TEST_F(ThreadHistory, EachCallNamesARunOfItsThread) {
  ThreadId thread("t");
  EXPECT_EQ(wait(service_->status(local_program, thread, std::nullopt, runs_[0])).value().row.run,
            runs_[0]);
  EXPECT_EQ(wait(service_->status(local_program, thread, 1, runs_[1])).value().row.run, runs_[1]);
  EXPECT_EQ(wait(service_->run_of(local_program, thread)).value().run, runs_[2]);
  EXPECT_EQ(wait(service_->wait_for(local_program, thread, runs_[1])).value().row.status,
            RunStatus::failed);
  auto ended = wait(service_->cancel(local_program, thread, "ana", "", runs_[0]));
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, ErrorCode::conflict) << "it has failed";
  CallPage calls;
  calls.thread = thread;
  calls.run = runs_[2];
  EXPECT_EQ(wait(service_->calls(local_program, calls)).value()["runId"], Value(runs_[2].text()));
  Value file = wait(service_->export_run(local_program, thread, runs_[0])).value();
  EXPECT_EQ(file["run"]["runId"], Value(runs_[0].text()));
  RunPage unknown;
  unknown.thread = ThreadId("none");
  EXPECT_EQ(wait(service_->runs(local_program, unknown)).error().code, ErrorCode::not_found);
}

TEST_F(ThreadHistory, ARunThatWaitsNamesTheRunAheadOfIt) {
  StartRun wanted = order("t", "a shoe");
  wanted.if_busy = BusyThread::enqueue;
  RunView queued = wait(service_->start(local_program, std::move(wanted))).value();
  EXPECT_EQ(queued.row.status, RunStatus::queued);
  EXPECT_EQ(queued.held_by, "waits for run " + short_id(runs_[2]) + " of this thread");
  EXPECT_EQ(wait(service_->run_of(local_program, ThreadId("t"))).value().run, runs_[2])
      << "the current one";
}

TEST_F(ThreadHistory, AKeyWithoutAThreadStartsOneRun) {
  StartRun wanted = order("", "a map");
  wanted.idempotency_key = "monday";
  StartRun again = wanted;
  RunView first = wait(service_->start(local_program, std::move(wanted))).value();
  RunView second = wait(service_->start(local_program, std::move(again))).value();
  EXPECT_EQ(first.row.run, second.row.run);
  EXPECT_EQ(first.row.thread, second.row.thread);
}

}  // namespace
}  // namespace belay
