// The deletion of one thread: belay::delete_thread().

#include <gmock/gmock.h>

#include <functional>

#include "belay/storage.h"
#include "store/forwarding_store.h"
#include "tests/conformance/store_suite.h"

namespace belay::conformance {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Calls a function before each commit. Its commits fail once the function returns false.
class ObservedCommits final : public ForwardingStore {
 public:
  ObservedCommits(Store& store, std::function<bool(int)> before)
      : ForwardingStore(store), before_(std::move(before)) {}

  Task<Result<CommitOutcome>> commit(Commit commit) override {
    if (!before_(++commits_)) return refusal();
    return inner().commit(std::move(commit));
  }
  int commits() const { return commits_; }

 private:
  static Task<Result<CommitOutcome>> refusal() {
    co_return error(ErrorCode::unavailable, "The store was stopped.");
  }

  std::function<bool(int)> before_;
  int commits_ = 0;
};

class ThreadDeletionSuite : public StoreSuite {
 protected:
  // Writes a run that has ended, after `commits` commits of nodes, with a row of every kind.
  void write_run(RunScript& script, bool is_first, int commits = 2) {
    EXPECT_EQ(call_->commit(is_first ? script.first() : script.first_in_thread()),
              CommitOutcome::applied);
    Commit pending = script.pending({{"list", WriteOp::append}});
    pending.rows.tasks.push_back(script.task(0, TaskStatus::done));
    pending.rows.effects.push_back(script.effect("pay", EffectStatus::done));
    if (is_first) pending.rows.inner_checkpoints.push_back(script.inner_checkpoint("inner", 1));
    call_->commit(std::move(pending));
    Commit message = script.next();
    message.rows.outbox.push_back(script.message(0));
    message.rows.outbox[0].status = OutboxStatus::delivered;
    EXPECT_EQ(call_->commit(std::move(message)), CommitOutcome::applied);
    for (int i = 1; i < commits; ++i) call_->commit(script.next());
    call_->commit(script.ask(Instant{}));
    EXPECT_EQ(call_->commit(script.expire()), CommitOutcome::applied);
  }
  RunScript thread_of_two_runs(int commits = 2) {
    RunScript first("first");
    write_run(first, true, commits);
    RunScript second = first.later("second");
    write_run(second, false);
    return second;
  }
  Result<ThreadDeletion> deletion(Store& store, const ThreadId& thread) {
    return block_on(call_->loop(), delete_thread(store, default_tenant(), thread));
  }
  Result<ThreadDeletion> deletion(const ThreadId& thread) { return deletion(*store_, thread); }
  void expect_refused(const ThreadId& thread, const std::string& words) {
    std::string before = call_->all();
    auto refused = deletion(thread);
    ASSERT_FALSE(refused.ok()) << words;
    EXPECT_EQ(refused.error().code, ErrorCode::conflict);
    EXPECT_THAT(refused.error().message, HasSubstr(words));
    EXPECT_EQ(call_->all(), before);
  }
};

TEST_P(ThreadDeletionSuite, LeavesNothingOfTheThreadAndAllOfOthers) {
  RunScript other("other");
  write_run(other, true);
  std::string before = call_->all();
  RunScript second = thread_of_two_runs();
  auto deleted = deletion(second.row.thread);
  ASSERT_TRUE(deleted.ok()) << deleted.error().message;
  EXPECT_EQ(deleted->runs, 2u);
  EXPECT_EQ(call_->all(), before);
  RunScript again("first");
  EXPECT_EQ(call_->commit(again.first()), CommitOutcome::applied) << "its name is free";
}

TEST_P(ThreadDeletionSuite, LeavesTheRecordsOfItsRuns) {
  RunScript first("first");
  call_->commit(first.first());
  Commit saving = first.next();
  saving.rows.records.push_back(record_put("kept", "{}", {{"date", "2025-11-20"}}));
  call_->commit(std::move(saving));
  call_->commit(first.ask(Instant{}));
  call_->commit(first.expire());
  ASSERT_TRUE(deletion(first.row.thread).ok());
  RecordQuery query;
  query.tenant = default_tenant();
  query.collection = "notes";
  query.user = UserId("ana");
  query.key = "kept";
  auto records = call_->records(query);
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_TRUE(records[0].run.is_null());
}

TEST_P(ThreadDeletionSuite, IsRefusedForAThreadThatIsNotThere) {
  auto refused = deletion(ThreadId("none"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::not_found);
  RunScript second = thread_of_two_runs();
  auto of_another =
      block_on(call_->loop(), delete_thread(*store_, TenantId("other"), second.row.thread));
  ASSERT_FALSE(of_another.ok());
  EXPECT_EQ(of_another.error().code, ErrorCode::not_found);
}

TEST_P(ThreadDeletionSuite, IsRefusedWhileARunHasNotEndedAMessageWaitsOrTheThreadIsPreserved) {
  RunScript second = thread_of_two_runs();
  RunScript third = second.later("third");
  call_->commit(third.first_in_thread());
  expect_refused(second.row.thread, third.row.run.text() + " is");
  Commit message = third.next();
  message.rows.outbox.push_back(third.message(0));
  OutboxRow sent = message.rows.outbox[0];
  call_->commit(std::move(message));
  call_->commit(third.ask(Instant{}));
  expect_refused(second.row.thread, " is paused. Cancel");
  call_->commit(third.expire());
  expect_refused(second.row.thread, "waits for its delivery");
  Commit preserving;
  preserving.tenant = default_tenant();
  preserving.rows.preserve = {second.row.thread, true};
  call_->commit(preserving);
  expect_refused(second.row.thread, "is preserved");
}

TEST_P(ThreadDeletionSuite, ContinuesAfterAnInterruption) {
  RunScript second = thread_of_two_runs(600);
  std::string newest = call_->run(second.row.run).run.text();
  ObservedCommits stopped(*store_, [](int commit) { return commit <= 2; });
  auto failed = deletion(stopped, second.row.thread);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code, ErrorCode::unavailable);
  EXPECT_EQ(stopped.commits(), 3) << "a long run is deleted in several commits";
  EXPECT_EQ(call_->run(second.row.run).run.text(), newest) << "the newest run goes last";
  auto deleted = deletion(second.row.thread);
  ASSERT_TRUE(deleted.ok()) << deleted.error().message;
  EXPECT_EQ(deleted->runs, 2u);
  EXPECT_THAT(call_->threads({.tenant = default_tenant()}), IsEmpty());
}

TEST_P(ThreadDeletionSuite, KeepsARunThatIsStartedMeanwhile) {
  RunScript second = thread_of_two_runs();
  RunScript third = second.later("third");
  ObservedCommits observed(*store_, [&](int commit) {
    if (commit == 1) {
      EXPECT_EQ(call_->commit(third.first_in_thread()), CommitOutcome::applied);
    }
    return true;
  });
  auto refused = deletion(observed, second.row.thread);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_THAT(refused.error().message, HasSubstr("was changed during its deletion"));
  EXPECT_EQ(call_->run(third.row.run).run, third.row.run);
  EXPECT_THAT(call_->runs({.tenant = default_tenant()}), SizeIs(3));
}

TEST_P(ThreadDeletionSuite, OfTwoAtOnceBothSucceed) {
  RunScript second = thread_of_two_runs();
  ObservedCommits observed(*store_, [&](int commit) {
    if (commit == 1) {
      EXPECT_TRUE(deletion(second.row.thread).ok());
    }
    return true;
  });
  auto deleted = deletion(observed, second.row.thread);
  EXPECT_TRUE(deleted.ok()) << deleted.error().message;
  EXPECT_THAT(call_->threads({.tenant = default_tenant()}), IsEmpty());
}

TEST_P(ThreadDeletionSuite, EndsIfItsNameIsTakenAgainMeanwhile) {
  RunScript second = thread_of_two_runs();
  RunScript next("next");
  next.row.thread = second.row.thread;
  next.row.updated_at = clock_.now() + std::chrono::seconds(1);
  next.row.created_at = next.row.updated_at;
  ObservedCommits observed(*store_, [&](int commit) {
    if (commit == 1) {
      EXPECT_TRUE(deletion(second.row.thread).ok());
      EXPECT_EQ(call_->commit(next.first()), CommitOutcome::applied);
    }
    return true;
  });
  auto deleted = deletion(observed, second.row.thread);
  EXPECT_TRUE(deleted.ok()) << deleted.error().message;
  EXPECT_EQ(call_->run(next.row.run).run, next.row.run);
}

INSTANTIATE_TEST_SUITE_P(Stores, ThreadDeletionSuite, testing::ValuesIn(store_kinds()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace belay::conformance
