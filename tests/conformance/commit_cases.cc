// Guarded commits: which guards reject a commit, which rows it writes, and the outcome of a commit
// that is sent again.

#include <gmock/gmock.h>

#include <thread>

#include "tests/conformance/store_suite.h"

namespace belay::conformance {
namespace {

using testing::HasSubstr;

TEST_P(StoreSuite, AFirstCommitCreatesThreadRunCheckpointAndEvents) {
  RunScript script("a");
  EXPECT_EQ(call_->commit(script.first()), CommitOutcome::applied);

  EXPECT_EQ(call_->run(script.row.run), script.row);
  auto threads = call_->threads(ThreadFilter{default_tenant(), script.row.thread});
  ASSERT_EQ(threads.size(), 1u);
  EXPECT_EQ(threads[0].last_run, script.row.run);
  EXPECT_EQ(threads[0].user, script.row.user);
  EXPECT_EQ(threads[0].graph, script.row.graph);
  EXPECT_EQ(call_->checkpoints(CheckpointFilter{default_tenant(), script.row.run}).size(), 1u);
  EXPECT_EQ(call_->events(EventFilter{default_tenant(), script.row.run}).size(), 1u);
}

TEST_P(StoreSuite, EachCommitLeavesACheckpointThatNamesItsParent) {
  RunScript script("a");
  call_->commit(script.first());
  Commit second = script.next();
  CheckpointRow expected = *second.rows.checkpoint;
  EXPECT_EQ(call_->commit(std::move(second)), CommitOutcome::applied);

  auto checkpoints = call_->checkpoints(CheckpointFilter{default_tenant(), script.row.run});
  ASSERT_EQ(checkpoints.size(), 2u);
  EXPECT_EQ(checkpoints[0], expected);
  EXPECT_EQ(checkpoints[0].parent, checkpoints[1].id);
  EXPECT_TRUE(checkpoints[1].parent.is_null());
  EXPECT_EQ(call_->run(script.row.run), script.row);
}

TEST_P(StoreSuite, AFirstCommitThatClaimsAnEpochIsFenced) {
  for (const char* tenant : {"default", "never seen"}) {
    RunScript script("a", TenantId(tenant));
    Commit first = script.first();
    first.run_guard->epoch = first.rows.run->epoch = 1;
    EXPECT_EQ(call_->commit(first), CommitOutcome::fenced) << tenant;
  }
  EXPECT_TRUE(call_->threads({}).empty());
}

TEST_P(StoreSuite, AThreadIsMadeOnceWithoutARunToo) {
  Commit thread;
  thread.tenant = default_tenant();
  thread.rows.thread.emplace();
  thread.rows.thread->tenant = default_tenant();
  thread.rows.thread->thread = ThreadId("t");
  thread.rows.thread->user = UserId("ana");
  EXPECT_EQ(call_->commit(thread), CommitOutcome::applied);
  EXPECT_EQ(call_->commit(thread), CommitOutcome::exists);
  thread.rows.thread->thread = ThreadId("u");
  EXPECT_EQ(call_->commit(thread), CommitOutcome::applied);
}

TEST_P(StoreSuite, EveryMemberOfARunIsKept) {
  RunScript script("a");
  script.row.session = *store_->open_session();
  call_->commit(script.first());
  script.row.status = RunStatus::failed;
  script.row.reason = "reason";
  script.row.outcome = "outcome";
  script.row.error_code = "exhausted";
  script.row.error = "Es ist schiefgegangen: \"ä\".";
  script.row.epoch = 7;
  script.row.retry_count = 3;
  script.row.worked_ms = 1'234;
  Commit commit = script.next();
  commit.rows.run->status = RunStatus::failed;
  commit.rows.checkpoint->status = RunStatus::failed;
  commit.run_guard->epoch = 1;
  RunRow expected = *commit.rows.run;
  EXPECT_EQ(call_->commit(std::move(commit)), CommitOutcome::applied);
  EXPECT_EQ(call_->run(script.row.run), expected);
}

TEST_P(StoreSuite, WhatNeverChangesOfARunStaysAsItsFirstCommitWroteIt) {
  RunScript script("a");
  call_->commit(script.first());
  RunRow before = script.row;
  Commit commit = script.next();
  commit.rows.run->input = json_envelope("{\"forged\":true}");
  commit.rows.run->options = "{\"forged\":true}";
  commit.rows.run->created_at += std::chrono::hours(1);
  EXPECT_EQ(call_->commit(std::move(commit)), CommitOutcome::applied);
  EXPECT_EQ(call_->run(script.row.run).input, before.input);
  EXPECT_EQ(call_->run(script.row.run).options, before.options);
  EXPECT_EQ(call_->run(script.row.run).created_at, before.created_at);
}

TEST_P(StoreSuite, TheSameCommitSentAgainIsAppliedOnce) {
  RunScript script("a");
  Commit first = script.first();
  EXPECT_EQ(call_->commit(first), CommitOutcome::applied);
  EXPECT_EQ(call_->commit(first), CommitOutcome::applied);
  Commit second = script.next();
  EXPECT_EQ(call_->commit(second), CommitOutcome::applied);
  call_->commit(script.next());
  std::string before = call_->all();
  EXPECT_EQ(call_->commit(second), CommitOutcome::applied) << "although the run has moved on";
  EXPECT_EQ(call_->commit(first), CommitOutcome::applied);
  EXPECT_EQ(call_->all(), before);
}

TEST_P(StoreSuite, ARivalAtTheSameSeqIsFencedAndWritesNothing) {
  RunScript script("a");
  call_->commit(script.first());
  RunScript rival = script;
  rival.become("rival");
  call_->commit(script.next());
  std::string before = call_->all();

  Commit late = rival.ask(clock_.now() + std::chrono::hours(1));
  late.rows.records.push_back(record_put("1", "{}", {{"date", "2025-11-22"}}));
  EXPECT_EQ(call_->commit(late), CommitOutcome::fenced);
  EXPECT_EQ(call_->commit(late), CommitOutcome::fenced);
  EXPECT_EQ(call_->all(), before);
}

TEST_P(StoreSuite, AnOlderEpochIsFenced) {
  RunScript script("a");
  call_->commit(script.first());
  RunScript former = script;
  former.become("former");
  script.row.epoch = 2;
  Commit claim = script.next();
  claim.run_guard->epoch = 1;
  EXPECT_EQ(call_->commit(std::move(claim)), CommitOutcome::applied);
  former.row.seq = script.row.seq;
  former.row.checkpoint = script.row.checkpoint;
  EXPECT_EQ(call_->commit(former.next()), CommitOutcome::fenced);
  EXPECT_EQ(call_->run(script.row.run).epoch, 2u);
}

TEST_P(StoreSuite, ACommitOfARunThatDoesNotExistIsFenced) {
  RunScript script("a");
  (void)script.first();
  EXPECT_EQ(call_->commit(script.next()), CommitOutcome::fenced);
  EXPECT_EQ(call_->all(), "");
}

TEST_P(StoreSuite, ARunOrThreadThatExistsIsNotCreatedAgain) {
  RunScript script("a");
  call_->commit(script.first());
  std::string before = call_->all();
  RunScript same_run("a");
  same_run.become("second");
  EXPECT_EQ(call_->commit(same_run.first()), CommitOutcome::exists);
  RunScript same_thread("b");
  same_thread.row.thread = script.row.thread;
  EXPECT_EQ(call_->commit(same_thread.first()), CommitOutcome::exists);
  EXPECT_EQ(call_->all(), before);
}

TEST_P(StoreSuite, ASecondRunOfAThreadBecomesItsLast) {
  RunScript script("a");
  call_->commit(script.first());
  RunScript second("b");
  second.row.thread = script.row.thread;
  EXPECT_EQ(call_->commit(second.first_in_thread()), CommitOutcome::applied);
  auto threads = call_->threads(ThreadFilter{default_tenant(), {}});
  ASSERT_EQ(threads.size(), 1u);
  EXPECT_EQ(threads[0].last_run, second.row.run);
}

TEST_P(StoreSuite, ARunInAThreadThatDoesNotExistIsRefused) {
  RunScript script("a");
  auto outcome = call_->try_commit(script.first_in_thread());
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ErrorCode::invalid);
  EXPECT_THAT(outcome.error().message, HasSubstr("thread a"));
  EXPECT_EQ(call_->all(), "");
}

TEST_P(StoreSuite, RowsThatDoNotBelongTogetherAreRefused) {
  RunScript script("a");
  Commit good = script.first();
  std::vector<Commit> bad(9, good);
  bad[0].rows.checkpoint.reset();
  bad[1].rows.run->seq = 2;
  bad[2].rows.checkpoint->seq = 2;
  bad[3].rows.events[0].seq = 2;
  bad[4].rows.run->tenant = TenantId("other");
  bad[5].rows.values.resize(2);
  for (ValueRow& value : bad[5].rows.values) value.run = script.row.run, value.seq = 1;
  bad[6].run_guard.reset();
  bad[7].rows.decided.emplace();
  bad[8].rows.events.push_back(bad[8].rows.events[0]);
  for (std::size_t i = 0; i < bad.size(); ++i) {
    auto outcome = call_->try_commit(bad[i]);
    ASSERT_FALSE(outcome.ok()) << i;
    EXPECT_EQ(outcome.error().code, ErrorCode::invalid) << i;
  }
  EXPECT_EQ(call_->all(), "");
}

TEST_P(StoreSuite, AnApprovalIdThatExistsFailsTheWholeCommit) {
  RunScript script("a");
  call_->commit(script.first());
  call_->commit(script.ask(clock_.now() + std::chrono::hours(1)));
  std::string before = call_->all();
  Commit again = script.ask(clock_.now() + std::chrono::hours(1));
  again.rows.opened[0].interrupt =
      call_->approvals(ApprovalFilter{default_tenant(), {}, {}}).at(0).interrupt;
  again.rows.records.push_back(record_put("1", "{}"));
  auto outcome = call_->try_commit(std::move(again));
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ErrorCode::conflict);
  EXPECT_EQ(call_->all(), before);
}

TEST_P(StoreSuite, TenantsDoNotMix) {
  for (const char* tenant : {"a", "b", "c"}) {
    RunScript script("same", TenantId(tenant));
    EXPECT_EQ(call_->commit(script.first()), CommitOutcome::applied);
    EXPECT_EQ(call_->commit(script.next()), CommitOutcome::applied);
    EXPECT_EQ(call_->commit(script.ask(clock_.now() + std::chrono::hours(1))),
              CommitOutcome::applied);
    std::string json = "{\"of\":\"" + std::string(tenant) + "\"}";
    call_->commit(import_of({record_put("1", json, {{"date", "2025-11-22"}})}, TenantId(tenant)));
  }
  for (const char* tenant : {"a", "b", "c"}) {
    EXPECT_EQ(call_->runs(RunFilter{TenantId(tenant), {}, {}, {}}).size(), 1u);
    RecordQuery query{TenantId(tenant), "notes", UserId("ana"), "1", "", "", ""};
    auto records = call_->records(query);
    ASSERT_EQ(records.size(), 1u);
    EXPECT_THAT(records[0].envelope, HasSubstr(tenant));
  }
  EXPECT_EQ(call_->all(TenantId("d")), "");
}

TEST_P(StoreSuite, CommitsOfManyRunsAtOnceAllLand) {
  constexpr int threads = 8;
  constexpr int runs_each = 8;
  std::vector<std::thread> writers;
  for (int thread = 0; thread < threads; ++thread) {
    writers.emplace_back([&, thread] {
      Caller caller(*store_);
      for (int run = 0; run < runs_each; ++run) {
        RunScript script(std::to_string(thread) + "-" + std::to_string(run));
        EXPECT_EQ(caller.commit(script.first()), CommitOutcome::applied);
        for (int step = 0; step < 3; ++step) {
          EXPECT_EQ(caller.commit(script.next()), CommitOutcome::applied);
          EXPECT_EQ(caller.run(script.row.run), script.row) << "it sees its own commits";
        }
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  auto runs = call_->runs(RunFilter{.tenant = default_tenant(), .limit = 1'000});
  EXPECT_EQ(runs.size(), static_cast<std::size_t>(threads * runs_each));
  for (const RunRow& run : runs) EXPECT_EQ(run.seq, 4u);
}

TEST_P(StoreSuite, OfManyWritersAtOneSeqExactlyOneWins) {
  RunScript script("a");
  call_->commit(script.first());
  std::atomic<int> applied = 0;
  std::vector<std::thread> writers;
  for (int i = 0; i < 16; ++i) {
    writers.emplace_back([&, i] {
      RunScript rival = script;
      rival.become("rival " + std::to_string(i));
      Caller caller(*store_);
      CommitOutcome outcome = caller.commit(rival.next());
      EXPECT_TRUE(outcome == CommitOutcome::applied || outcome == CommitOutcome::fenced);
      applied += outcome == CommitOutcome::applied;
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(applied, 1);
}

TEST_P(StoreSuite, ATaskMayBeDestroyedWhileItWaits) {
  RunScript script("a");
  {
    std::vector<Spawned> waiting;
    call_->loop().post([&] {
      auto ignore = [](Result<CommitOutcome>) {};
      auto ignore_read = [](Result<Done>) {};
      for (int i = 0; i < 100; ++i) {
        RunScript other("other " + std::to_string(i));
        waiting.push_back(
            spawn<Result<CommitOutcome>>(call_->loop(), store_->commit(other.first()), ignore));
        waiting.push_back(spawn<Result<Done>>(
            call_->loop(), store_->read([](Snapshot&) { return Result<Done>(Done{}); }),
            ignore_read));
      }
      waiting.clear();
      call_->loop().stop();
    });
    call_->loop().run();
  }
  EXPECT_EQ(call_->commit(script.first()), CommitOutcome::applied);
}

TEST_P(StoreSuite, BigValuesOddTextsAndEmptyOnesComeBackAsTheyWere) {
  RunScript script("a");
  call_->commit(script.first());
  Commit commit = script.next();
  std::string big(1 << 20, 'x');
  for (std::size_t i = 0; i < big.size(); ++i) big[i] = static_cast<char>(i * 31);
  commit.rows.values[0].envelope = json_envelope(big);
  ValueRow odd = commit.rows.values[0];
  odd.channel = "ärger \U0001F600 'quoted\" \\";
  odd.checkpoint_ns = "sub/graph";
  // An encrypted store accepts envelopes only.
  std::string bytes("\0\0", 2);
  odd.envelope = GetParam().is_sealed ? json_envelope(bytes) : bytes;
  commit.rows.values.push_back(odd);
  odd.channel = "";
  odd.checkpoint_ns = "";
  odd.envelope = GetParam().is_sealed ? json_envelope("") : "";
  commit.rows.values.push_back(odd);
  commit.rows.events[0].body = "";
  auto expected = commit.rows.values;
  EXPECT_EQ(call_->commit(std::move(commit)), CommitOutcome::applied);
  auto values = call_->values(ValueFilter{default_tenant(), script.row.run, {}, script.row.seq});
  EXPECT_THAT(values, testing::UnorderedElementsAreArray(expected));
}

}  // namespace
}  // namespace belay::conformance
