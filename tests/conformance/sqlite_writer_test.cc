// Long on purpose: one writer under each fault of its disk.

// The SQLite store's writer: group commit, the failed commit in a batch, and a disk that fails.

#include <gmock/gmock.h>
#include <sqlite3.h>

#include <algorithm>
#include <deque>
#include <future>
#include <thread>

#include "belay/limits.h"
#include "store/sqlite/sqlite_store.h"
#include "tests/conformance/store_suite.h"
#include "tests/disk/recording_disk.h"

namespace belay::conformance {
namespace {

using disk::Fault;
using testing::HasSubstr;

class SqliteWriter : public testing::Test {
 protected:
  SqliteWriter() { open(); }

  void open() {
    call_.reset();
    store_.reset();
    sqlite::SqliteStoreOptions options;
    options.at_commit = [this](std::uint64_t number, bool after) {
      transactions_ = number;
      if (!after && number == hold_at_) hold_.get_future().wait();
    };
    auto opened = sqlite::open_sqlite_store(folder_.file("store.db"), clock_, random_, options);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    store_ = *std::move(opened);
    call_ = std::make_unique<Caller>(*store_);
  }

  // Queues all commits while the writer is held before its next transaction, releases the writer,
  // and returns the commits' outcomes.
  std::vector<Result<CommitOutcome>> commit_at_once(std::vector<Commit> commits) {
    std::vector<Result<CommitOutcome>> outcomes(commits.size(), CommitOutcome::fenced);
    hold_ = std::promise<void>();
    hold_at_ = transactions_ + 1;
    std::vector<Spawned> waiting;
    std::size_t left = commits.size();
    call_->loop().post([&] {
      for (std::size_t i = 0; i < commits.size(); ++i) {
        waiting.push_back(spawn<Result<CommitOutcome>>(call_->loop(),
                                                       store_->commit(std::move(commits[i])),
                                                       [&, i](Result<CommitOutcome> outcome) {
                                                         outcomes[i] = std::move(outcome);
                                                         if (--left == 0) call_->loop().stop();
                                                       }));
      }
      hold_.set_value();
    });
    call_->loop().run();
    return outcomes;
  }

  TemporaryFolder folder_;
  disk::RecordingDisk disk_;
  StandingClock clock_;
  SeededRandom random_;
  std::atomic<std::uint64_t> transactions_ = 0;
  std::atomic<std::uint64_t> hold_at_ = 0;
  std::promise<void> hold_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Caller> call_;
};

TEST_F(SqliteWriter, CommitsThatWaitTravelTogether) {
  std::vector<Commit> commits;
  for (int i = 0; i < 64; ++i) commits.push_back(RunScript(std::to_string(i)).first());
  std::size_t syncs = disk_.syncs();
  for (auto& outcome : commit_at_once(std::move(commits))) {
    EXPECT_EQ(*outcome, CommitOutcome::applied);
  }
  EXPECT_LE(transactions_, 2u) << "the first may go before the rest has been pushed";
  EXPECT_LE(disk_.syncs() - syncs, 4u);
  EXPECT_EQ(call_->runs(RunFilter{default_tenant()}).size(), 64u);
}

TEST_F(SqliteWriter, TwoCommitsOfOneRunStayInTheirOrder) {
  RunScript script("a");
  std::vector<Commit> commits{script.first()};
  for (int i = 0; i < 9; ++i) commits.push_back(script.next());
  for (auto& outcome : commit_at_once(std::move(commits))) {
    EXPECT_EQ(*outcome, CommitOutcome::applied);
  }
  EXPECT_EQ(transactions_, 10u);
  EXPECT_EQ(call_->run(script.row.run), script.row);
}

TEST_F(SqliteWriter, PendingWritesStayInTheirOrderAmongTheCommitsOfTheirRun) {
  RunScript script("a");
  std::vector<Commit> commits{script.first()};
  commits.push_back(script.pending({{"list", WriteOp::append, 0}}));
  commits.push_back(script.pending({{"list", WriteOp::append, 1}}));
  Commit late = script.pending({{"list", WriteOp::append, 2}});
  commits.push_back(script.next());
  commits.push_back(late);
  auto outcomes = commit_at_once(std::move(commits));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(*outcomes[i], CommitOutcome::applied) << i;
  EXPECT_EQ(*outcomes[4], CommitOutcome::fenced) << "the superstep has ended without it";
  EXPECT_EQ(transactions_, 5u);
  EXPECT_EQ(call_->values({default_tenant(), script.row.run, {}, 2}).size(), 3u);
}

TEST_F(SqliteWriter, PendingWritesOfManyRunsTravelTogetherWithoutTheGuiltyOne) {
  std::vector<RunScript> scripts;
  for (int i = 0; i < 40; ++i) {
    scripts.emplace_back(std::to_string(i));
    call_->commit(scripts.back().first());
  }
  std::vector<Commit> commits;
  for (const RunScript& script : scripts) {
    commits.push_back(script.pending({{"list", WriteOp::append}}));
    commits.back().rows.opened.push_back(script.question("q"));
  }
  commits[17].rows.opened.push_back(commits[17].rows.opened[0]);  // twice
  commits[23].run_guard->epoch += 1;
  auto before = transactions_.load();
  auto outcomes = commit_at_once(std::move(commits));
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    EXPECT_EQ(outcomes[i].ok(), i != 17) << i;
    if (i == 17) continue;
    EXPECT_EQ(*outcomes[i], i == 23 ? CommitOutcome::fenced : CommitOutcome::applied) << i;
  }
  EXPECT_LE(transactions_ - before, 5u);
}

TEST_F(SqliteWriter, AGuiltyCommitHarmsNobodyElseInItsBatch) {
  RunScript guilty("guilty");
  RunScript fenced("fenced");
  call_->commit(guilty.first());
  call_->commit(guilty.ask(clock_.now() + std::chrono::hours(1)));
  InterruptId taken = guilty.opened().interrupt;
  (void)fenced.first();
  std::vector<Commit> commits;
  commits.push_back(RunScript("first to go").first());
  for (int i = 0; i < 20; ++i) commits.push_back(RunScript(std::to_string(i)).first());
  Commit bad = guilty.ask(clock_.now() + std::chrono::hours(1));
  bad.rows.opened[0].interrupt = taken;
  commits.push_back(std::move(bad));
  commits.push_back(fenced.next());
  for (int i = 20; i < 40; ++i) commits.push_back(RunScript(std::to_string(i)).first());
  auto outcomes = commit_at_once(std::move(commits));
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (i == 21) {
      ASSERT_FALSE(outcomes[i].ok());
      EXPECT_EQ(outcomes[i].error().code, ErrorCode::conflict);
    } else {
      ASSERT_TRUE(outcomes[i].ok()) << outcomes[i].error().message;
      EXPECT_EQ(*outcomes[i], i == 22 ? CommitOutcome::fenced : CommitOutcome::applied);
    }
  }
  EXPECT_EQ(call_->runs(RunFilter{default_tenant()}).size(), 42u);
  EXPECT_EQ(call_->run(guilty.row.run).seq, 2u);
}

// An ended run, imported into a store by a single commit.
Commit import_of_ended(const std::string& name) {
  RunScript script(name);
  Commit import = script.first();
  import.imports = true;
  script.row.status = RunStatus::completed;
  import.rows.run->status = RunStatus::completed;
  import.rows.checkpoint->status = RunStatus::completed;
  import.rows.outbox.push_back(script.message(0));
  import.rows.outbox[0].status = OutboxStatus::delivered;
  return import;
}

TEST_F(SqliteWriter, ARunThatAnotherProcessHasForgottenCanComeAgain) {
  Commit import = import_of_ended("a");
  EXPECT_EQ(call_->commit(import), CommitOutcome::applied);
  auto opened = open_sqlite_store(folder_.file("store.db"), clock_, random_);
  ASSERT_TRUE(opened.ok());
  Caller other(**opened);
  Commit forget;
  forget.tenant = default_tenant();
  forget.rows.prune.push_back({import.rows.run->run, {}});
  EXPECT_EQ(other.commit(forget), CommitOutcome::applied);
  EXPECT_EQ(call_->commit(import), CommitOutcome::applied) << "under a number that is free again";
  EXPECT_EQ(call_->run(import.rows.run->run), *import.rows.run);

  // Pruned again, and imported by the other store after another run that took its row number.
  EXPECT_EQ(other.commit(forget), CommitOutcome::applied);
  EXPECT_EQ(other.commit(import_of_ended("b")), CommitOutcome::applied);
  EXPECT_EQ(other.commit(import), CommitOutcome::applied);
  EXPECT_EQ(call_->commit(import), CommitOutcome::applied) << "it is known as the same commit";
  RunScript script("a");
  script.first();
  script.row.status = RunStatus::completed;
  EXPECT_EQ(call_->commit(script.next()), CommitOutcome::applied) << "and goes on by its number";
}

TEST_F(SqliteWriter, AMessageOfAForgottenRunIsNotTakenForThatOfTheRunWithItsNumber) {
  Commit import = import_of_ended("a");
  EXPECT_EQ(call_->commit(import), CommitOutcome::applied);
  auto opened = open_sqlite_store(folder_.file("store.db"), clock_, random_);
  ASSERT_TRUE(opened.ok());
  Caller other(**opened);
  Commit forget;
  forget.tenant = default_tenant();
  forget.rows.prune.push_back({import.rows.run->run, {}});
  EXPECT_EQ(other.commit(forget), CommitOutcome::applied);
  Commit next = import_of_ended("b");
  next.rows.outbox[0].status = OutboxStatus::waiting;
  EXPECT_EQ(other.commit(next), CommitOutcome::applied);

  Commit attempt;
  attempt.tenant = default_tenant();
  attempt.rows.outbox.push_back(import.rows.outbox[0]);
  attempt.rows.outbox[0].attempts = 1;
  attempt.message_guard =
      OutboxGuard{import.rows.run->run, import.rows.outbox[0].seq, 0, 0, OutboxStatus::waiting};
  EXPECT_EQ(call_->commit(attempt), CommitOutcome::fenced);
  EXPECT_EQ(other.outbox({.tenant = default_tenant()}).at(0).attempts, 0);
}

TEST_F(SqliteWriter, AFullQueueRefusesInsteadOfGrowing) {
  std::vector<Commit> commits;
  // The writer can take one batch from the queue before it is held.
  constexpr std::size_t too_many = limits::commit_queue_max + limits::commit_batch_max + 10;
  for (std::size_t i = 0; i < too_many; ++i) {
    commits.push_back(import_of({record_put(std::to_string(i), "{}")}));
  }
  std::size_t refused = 0;
  for (auto& outcome : commit_at_once(std::move(commits))) {
    if (outcome.ok()) continue;
    EXPECT_EQ(outcome.error().code, ErrorCode::unavailable);
    EXPECT_THAT(outcome.error().message, HasSubstr("queue"));
    ++refused;
  }
  EXPECT_GE(refused, 10u);
  EXPECT_LE(refused, 10 + limits::commit_batch_max);
}

TEST_F(SqliteWriter, CommitsPushedBeforeTheStoreClosesAreCarriedOut) {
  RunScript script("a");
  call_->loop().post([&] {
    std::vector<Spawned> waiting;
    waiting.push_back(spawn<Result<CommitOutcome>>(call_->loop(), store_->commit(script.first()),
                                                   [](Result<CommitOutcome>) {}));
    waiting.clear();
    call_->loop().stop();
  });
  call_->loop().run();
  open();
  EXPECT_EQ(call_->run(script.row.run), script.row);
}

TEST_F(SqliteWriter, OnAFullDiskNothingIsWrittenAndTheSameCommitGoesThroughLater) {
  for (Fault fault : {Fault::full, Fault::write_error}) {
    RunScript script("at fault " + std::to_string(static_cast<int>(fault)));
    call_->commit(script.first());
    std::string before = call_->all();
    Commit commit = script.next();
    disk_.fail(fault, 0, true);
    auto outcome = call_->try_commit(commit);
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, ErrorCode::unavailable);
    EXPECT_THAT(outcome.error().message, HasSubstr("disk"));
    EXPECT_EQ(call_->all(), before);
    disk_.heal();
    EXPECT_EQ(call_->commit(commit), CommitOutcome::applied);
    EXPECT_EQ(call_->run(script.row.run), script.row);
  }
}

TEST_F(SqliteWriter, OnAFullDiskNobodyInTheBatchIsAcknowledged) {
  std::vector<Commit> commits;
  for (int i = 0; i < 10; ++i) commits.push_back(RunScript(std::to_string(i)).first());
  disk_.fail(Fault::full, 0, true);
  for (auto& outcome : commit_at_once(commits)) {
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, ErrorCode::unavailable);
  }
  disk_.heal();
  EXPECT_EQ(call_->all(), "");
}

TEST_F(SqliteWriter, AfterAFailedSyncNothingIsAcknowledgedUntilTheStoreIsReopened) {
  RunScript script("a");
  call_->commit(script.first());
  EXPECT_TRUE(store_->accepts_commits());
  Commit unclear = script.next();
  disk_.fail(Fault::sync_error, 0, true);
  auto outcome = call_->try_commit(unclear);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ErrorCode::uncertain);

  disk_.heal();
  for (const Commit& later : {unclear, RunScript("b").first()}) {
    outcome = call_->try_commit(later);
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, ErrorCode::unavailable);
    EXPECT_THAT(outcome.error().message, HasSubstr("reopen the store"));
  }
  EXPECT_FALSE(store_->open_session().ok());
  EXPECT_FALSE(store_->accepts_commits());

  open();
  EXPECT_EQ(call_->commit(unclear), CommitOutcome::applied) << "for the first or the second time";
  EXPECT_EQ(call_->run(script.row.run), script.row);
}

TEST_F(SqliteWriter, AReadThatFailsSaysSoAndTheNextOneWorks) {
  RunScript script("a");
  call_->commit(script.first());
  open();  // nothing is cached
  auto read_runs = [](Snapshot& view) -> Result<Done> {
    BELAY_CHECK(view.runs(RunFilter{default_tenant()}));
    return Done{};
  };
  disk_.fail(Fault::read_error, 0, true);
  auto answer = block_on<Result<Done>>(call_->loop(), store_->read(read_runs));
  disk_.heal();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(block_on<Result<Done>>(call_->loop(), store_->read(read_runs)).ok());
}

TEST_F(SqliteWriter, AProcessThatKeepsTheFileLockedIsToldApartFromADamagedFile) {
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(folder_.file("store.db").c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  RunScript script("a");
  Commit commit = script.first();
  auto outcome = call_->try_commit(commit);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ErrorCode::unavailable);
  EXPECT_THAT(outcome.error().message, HasSubstr("locked by another process"));
  sqlite3_close(other);
  EXPECT_EQ(call_->commit(commit), CommitOutcome::applied);
}

// A store without its own threads: it passes each work item to the test.
class SqliteWithoutThreads : public testing::Test {
 protected:
  SqliteWithoutThreads() {
    sqlite::SqliteStoreOptions options;
    options.run_later = [this](std::function<void()> work) { works_.push_back(std::move(work)); };
    options.at_commit = [this](std::uint64_t number, bool after) {
      transactions_ = number;
      if (after && when_committed_) std::exchange(when_committed_, nullptr)();
    };
    store_ = sqlite::open_sqlite_store(folder_.file("store.db"), clock_, random_, options).value();
  }
  void begin(Commit commit) {
    std::size_t place = outcomes_.size();
    outcomes_.emplace_back();
    spawned_.push_back(spawn<Result<CommitOutcome>>(
        *loop_, store_->commit(std::move(commit)),
        [this, place](const Result<CommitOutcome>& outcome) { outcomes_[place] = *outcome; }));
  }
  // Runs the store's work items until it requests no more, at most 100.
  std::size_t work() {
    std::size_t done = 0;
    for (; !works_.empty() && done < 100; ++done) {
      auto next = std::move(works_.front());
      works_.pop_front();
      next();
      loop_->post([this] { loop_->stop(); });
      loop_->run();
    }
    return done;
  }
  std::size_t applied() const {
    return static_cast<std::size_t>(
        std::count(outcomes_.begin(), outcomes_.end(), CommitOutcome::applied));
  }

  TemporaryFolder folder_;
  StandingClock clock_;
  SeededRandom random_;
  std::unique_ptr<EventLoop> loop_ = make_event_loop();
  std::deque<std::function<void()>> works_;
  std::function<void()> when_committed_;
  std::uint64_t transactions_ = 0;
  std::vector<Spawned> spawned_;
  std::vector<std::optional<CommitOutcome>> outcomes_;
  std::unique_ptr<Store> store_;
};

TEST_F(SqliteWithoutThreads, NothingIsWrittenBeforeItsTime) {
  for (int i = 0; i < 3; ++i) begin(RunScript(std::to_string(i)).first());
  EXPECT_EQ(works_.size(), 1u) << "the store has asked once for all that waits";
  EXPECT_EQ(transactions_, 0u);
  EXPECT_EQ(applied(), 0u);
  EXPECT_EQ(work(), 1u);
  EXPECT_EQ(applied(), 3u);
  EXPECT_EQ(transactions_, 1u) << "they travelled together";
  EXPECT_TRUE(works_.empty()) << "nothing waits, so it asks for nothing";
}

TEST_F(SqliteWithoutThreads, WhatComesAfterwardsIsWrittenToo) {
  begin(RunScript("a").first());
  work();
  begin(RunScript("b").first());
  EXPECT_EQ(works_.size(), 1u);
  work();
  EXPECT_EQ(applied(), 2u);
}

TEST_F(SqliteWithoutThreads, WhatHasNoPlaceInABatchIsWrittenInTheNext) {
  RunScript script("a");
  begin(script.first());
  for (int i = 0; i < 4; ++i) begin(script.next());
  EXPECT_EQ(work(), 5u) << "of one run one commit at a time";
  EXPECT_EQ(applied(), 5u);
}

TEST_F(SqliteWithoutThreads, WhatComesWhileABatchIsWrittenIsWrittenInTheNext) {
  when_committed_ = [this] { begin(RunScript("late").first()); };
  begin(RunScript("a").first());
  work();
  EXPECT_EQ(applied(), 2u);
  EXPECT_EQ(transactions_, 2u);
}

TEST_F(SqliteWithoutThreads, WhatWaitsWhenItIsClosedIsWrittenAndWorkThatIsLateDoesNothing) {
  begin(RunScript("a").first());
  store_.reset();
  EXPECT_EQ(transactions_, 1u);
  work();
  EXPECT_EQ(transactions_, 1u);
}

}  // namespace
}  // namespace belay::conformance
