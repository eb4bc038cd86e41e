// Tests that a damaged run is quarantined from its row and newest commit alone.

#include <gtest/gtest.h>

#include "engine/advance.h"

namespace belay::engine {
namespace {

using namespace std::chrono_literals;

struct Quarantine : ::testing::Test {
  Instant committed_at = *instant_from("2026-11-21T12:00:00Z");
  engine::Run run;
  CheckpointRow newest;

  void SetUp() override {
    newest.id = CheckpointId(time_ordered_uuid(uuid_ticks(committed_at), 1));
    newest.run = RunId(derived_uuid("run"));
    newest.seq = 7;
    newest.state_seq = 5;
    newest.epoch = 3;
    newest.chain_hash = sha256("chain");
    newest.next_tasks = "damaged";
    newest.status = RunStatus::running;
    newest.created_at = committed_at;
    run.row.tenant = default_tenant();
    run.row.run = newest.run;
    run.row.seq = 7;
    run.row.epoch = 3;
    run.row.status = RunStatus::running;
    run.row.session = SessionId(derived_uuid("session"));
    run.row.due_at = committed_at;
    run.row.checkpoint = newest.id;
    run.row.updated_at = committed_at;
    run.row.worked_ms = 40;
  }

  Commit quarantine(Instant now) {
    GraphDefinition unknown;
    auto next = advance(unknown, std::move(run), Damaged{{now, 9}, newest, "the disk"});
    run = std::move(next.run);
    if (next.actions.size() == 1) {
      if (auto* write = std::get_if<WriteCommit>(&next.actions.front())) {
        return std::move(*write->commit);
      }
    }
    ADD_FAILURE() << next.actions.size() << " actions";
    return {};
  }
};

TEST_F(Quarantine, OfADamagedRunRepeatsItsNewestCommitAndFencesItsOwner) {
  Commit commit = quarantine(committed_at + 5s);
  ASSERT_TRUE(commit.run_guard);
  EXPECT_EQ(commit.run_guard->seq, 7u);
  EXPECT_EQ(commit.run_guard->epoch, 3u);
  const CheckpointRow& checkpoint = *commit.rows.checkpoint;
  EXPECT_EQ(checkpoint.parent, newest.id);
  EXPECT_GT(checkpoint.id, newest.id);
  EXPECT_EQ(checkpoint.kind, CommitKind::quarantine);
  EXPECT_EQ(checkpoint.chain_hash, newest.chain_hash);
  EXPECT_EQ(checkpoint.next_tasks, "damaged");
  EXPECT_EQ(checkpoint.state_seq, 5u);
  EXPECT_EQ(checkpoint.seq, 8u);
  EXPECT_EQ(checkpoint.epoch, 4u);
  const RunRow& row = *commit.rows.run;
  EXPECT_EQ(row.status, RunStatus::quarantined);
  EXPECT_EQ(row.reason, "the disk");
  EXPECT_TRUE(row.session.is_null());
  EXPECT_EQ(row.due_at, Instant());
  EXPECT_EQ(row.seq, 8u);
  EXPECT_EQ(row.epoch, 4u);
  EXPECT_EQ(row.checkpoint, checkpoint.id);
  EXPECT_EQ(row.updated_at, committed_at + 5s);
  EXPECT_EQ(row.worked_ms, 40) << "no process worked on it";
}

TEST_F(Quarantine, NeverGoesBackInTime) {
  Commit commit = quarantine(committed_at - 1h);
  EXPECT_EQ(commit.rows.run->updated_at, committed_at);
  EXPECT_EQ(commit.rows.checkpoint->created_at, committed_at);
  EXPECT_GT(commit.rows.checkpoint->id, newest.id);
}

}  // namespace
}  // namespace belay::engine
