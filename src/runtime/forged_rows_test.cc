// Tests rows of an encrypted store that were changed without the key: each path that reads them
// rejects them, and quarantines their run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/storage.h"
#include "engine/checkpoint.h"
#include "engine/restore.h"
#include "load/stored_run.h"
#include "store/row_part.h"
#include "tests/support/crashing_store_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using Kind = StoredEnvelope::Kind;

struct Telegram {
  std::string text{};
  std::string sent{};
};

// Requests an approval before it sends; `with_nap` adds a timer to the superstep of the approval.
Graph<Telegram> telegram_graph(bool with_nap) {
  GraphBuilder<Telegram> graph{"letter"};
  graph.node("write", [](const Telegram&, Context&) { return set(&Telegram::text, "Dear Bob"); });
  graph.approval("review", &Telegram::text, {.question = "Send it?", .expires = 24h})
      .approved("send")
      .rejected(end);
  graph.node("send",
             [](const Telegram& letter, Context&) { return set(&Telegram::sent, letter.text); });
  graph.edge(start, "write").edge("write", "review").edge("send", end);
  if (with_nap) {
    graph.wait("nap", 1h);
    graph.edge("write", "nap").edge("nap", end);
  }
  return std::move(graph).build().value();
}

EncryptionOptions telegram_key() {
  EncryptionOptions encryption;
  encryption.keys = KeyRing::from_text("k1:" + std::string(64, 'a') + "\n").value();
  return encryption;
}

class ForgedRows : public CrashingStoreFixture {
 protected:
  void begin(bool with_nap) {
    graph.emplace(telegram_graph(with_nap));
    runtime = over();
    StartOptions options;
    options.thread = ThreadId("t");
    paused = block_on(loop, runtime->start(*graph, Telegram(), options)).value();
    ASSERT_EQ(paused.row.status, RunStatus::paused) << paused.row.error;
    ASSERT_TRUE(paused.approval);
  }
  std::unique_ptr<Runtime> over() {
    auto made = Runtime::open(RuntimeParts{*sealed, loop, clock, random, model}).value();
    made->add(*graph);
    return made;
  }
  template <typename T>
  T look(Store& in, std::function<Result<T>(Snapshot&)> reader) {
    return block_on(loop, read<T>(in, std::move(reader))).value();
  }
  // Reads a page of runs, which only marks a damaged one.
  RunRow row() {
    std::function<Result<std::vector<RunRow>>(Snapshot&)> reader = [](Snapshot& view) {
      return view.runs(RunFilter{.tenant = default_tenant()});
    };
    return look(*sealed, std::move(reader)).at(0);
  }
  // Reads the approval as stored in the inner store.
  ApprovalRow kept_approval() {
    std::function<Result<ApprovalRow>(Snapshot&)> reader = [this](Snapshot& view) {
      return approval_row(view, default_tenant(), paused.approval->interrupt);
    };
    return look(*kept, std::move(reader));
  }
  // Changes the approval as an UPDATE by hand would.
  void set_to_approved() {
    ApprovalRow forged = kept_approval();
    forged.status = ApprovalStatus::approved;
    forged.decided_by = "mallory";
    forged.decided_at = clock.now();
    Commit commit;
    commit.tenant = default_tenant();
    commit.approval_guard = ApprovalGuard{forged.interrupt, forged.payload_hash};
    commit.rows.decided = std::move(forged);
    ASSERT_EQ(block_on(loop, kept->commit(std::move(commit))).value(), CommitOutcome::applied);
    ASSERT_EQ(kept_approval().status, ApprovalStatus::approved);
  }
  void replace(const StoredEnvelope& stored, std::string bytes) {
    Commit commit;
    commit.tenant = default_tenant();
    commit.rows.rewrites.push_back({stored.position, sha256(stored.envelope), std::move(bytes)});
    ASSERT_EQ(block_on(loop, kept->commit(std::move(commit))).value(), CommitOutcome::applied);
  }
  std::vector<StoredEnvelope> everything_below() {
    std::function<Result<std::vector<StoredEnvelope>>(Snapshot&)> reader = [](Snapshot& view) {
      EnvelopeFilter filter;
      filter.tenant = default_tenant();
      filter.every_kind = true;
      return view.envelopes(filter);
    };
    return look(*kept, std::move(reader));
  }
  Result<DecisionResult> decide(bool approved) {
    Decision decision;
    decision.approved = approved;
    decision.decided_by = "bob";
    return block_on(
        loop, runtime->decide(default_tenant(), paused.approval->interrupt, std::move(decision)));
  }
  void work(std::chrono::hours time) {
    auto worker = over();
    std::optional<Result<std::size_t>> ended;
    WorkerOptions options;
    options.poll_interval = 1min;
    auto working =
        spawn<Result<std::size_t>>(loop, worker->run_worker(options),
                                   [&](Result<std::size_t> count) { ended = std::move(count); });
    loop.run_until(clock.now() + time);
    EXPECT_FALSE(ended) << "work() goes on whatever it finds";
  }
  void expect_quarantined() {
    RunRow now = row();
    EXPECT_EQ(now.status, RunStatus::quarantined);
    EXPECT_THAT(now.reason, AnyOf(HasSubstr("Restore"), HasSubstr("restore")))
        << "the reason has a remedy";
    EXPECT_NE(now.node, "end");
  }

  std::unique_ptr<Store> sealed = make_encrypted_store(*kept, random, telegram_key());
  std::optional<Graph<Telegram>> graph;
  std::unique_ptr<Runtime> runtime;
  RunView paused;
};

TEST_F(ForgedRows, ADecisionMeetsAnApprovalThatWasSetToApproved) {
  begin(false);
  set_to_approved();
  for (bool approved : {true, false}) {
    auto refused = decide(approved);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::corrupt) << refused.error().message;
  }
  expect_quarantined();
}

TEST_F(ForgedRows, AWorkerMeetsAnApprovalThatWasSetToApproved) {
  begin(false);
  set_to_approved();
  runtime.reset();
  work(48h);
  expect_quarantined();
}

// A decision on a running run is a separate commit, and the owner of the run reads it later.
TEST_F(ForgedRows, AnOwnerMeetsADecisionThatNobodyMade) {
  begin(true);
  clock.move(61min);
  set_to_approved();
  runtime.reset();
  work(1h);
  expect_quarantined();
}

TEST_F(ForgedRows, AQuestionWhoseRowWasChangedIsNotExpired) {
  begin(false);
  // It is read in a page of all due approvals, which only marks a damaged one.
  ApprovalRow forged = kept_approval();
  for (const StoredEnvelope& each : everything_below()) {
    bool is_question = each.subject == "question " + forged.interrupt.text();
    if (is_question) {
      Commit commit;
      commit.tenant = default_tenant();
      // A seal of another row does not authenticate this row's values.
      commit.rows.rewrites.push_back(
          {each.position, store::digest_of(each), "\x04", {std::string()}});
      ASSERT_EQ(block_on(loop, kept->commit(std::move(commit))).value(), CommitOutcome::applied);
    }
  }
  clock.move(25h);
  auto applied = block_on(loop, runtime->process_due(default_tenant()));
  ASSERT_TRUE(applied.ok()) << applied.error().message;
  expect_quarantined();
  EXPECT_EQ(kept_approval().status, ApprovalStatus::open);
}

// A caller who knows the state can compute the hash of a forged commit. With the mask alone, the
// caller could replace the hash by XORing the stored mask with the difference.
TEST_F(ForgedRows, AChainHashThatFitsAForgedCommitIsRefused) {
  begin(false);
  std::function<Result<engine::StoredRun>(Snapshot&)> reader = [this](Snapshot& view) {
    GraphRegistry graphs;
    graphs.add(graph->definition());
    return stored_run(view, graphs, paused.row);
  };
  engine::StoredRun stored = look(*sealed, std::move(reader));
  engine::Run run = engine::restore(*graph->definition(), stored).value();
  CheckpointRow forged = stored.checkpoint;
  std::size_t at = forged.next_tasks.find("review");
  ASSERT_NE(at, std::string::npos);
  forged.next_tasks.replace(at, 6, "send");
  Digest hash = stored.checkpoint.chain_hash;
  Digest other = engine::chain_hash(stored.parent_chain_hash, forged, run.channels);
  ASSERT_NE(hash, other);
  int changed = 0;
  for (const StoredEnvelope& each : everything_below()) {
    if (!each.subject.ends_with(forged.id.text())) continue;
    if (each.kind == Kind::tasks) replace(each, forged.next_tasks);
    if (each.kind != Kind::digest) continue;
    std::string masked = each.envelope;
    for (std::size_t i = 0; i < hash.size(); ++i) {
      masked[i] = static_cast<char>(masked[i] ^ hash[i] ^ other[i]);
    }
    replace(each, masked);
    ++changed;
  }
  ASSERT_EQ(changed, 1);
  auto shown = block_on(loop, runtime->status(default_tenant(), ThreadId("t")));
  ASSERT_FALSE(shown.ok()) << "a commit that nobody made is shown";
  EXPECT_EQ(shown.error().code, ErrorCode::corrupt);
  auto refused = decide(true);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
  expect_quarantined();
}

TEST_F(ForgedRows, ARunThatWasMadeDueIsNotTakenUp) {
  begin(false);
  std::function<Result<RunRow>(Snapshot&)> reader = [this](Snapshot& view) {
    return run_row(view, default_tenant(), paused.row.run);
  };
  std::function<Result<std::optional<CheckpointRow>>(Snapshot&)> newest = [this](Snapshot& view) {
    return newest_checkpoint(view, default_tenant(), paused.row.run);
  };
  RunRow forged = look(*kept, std::move(reader));
  CheckpointRow checkpoint = *look(*kept, std::move(newest));
  Commit commit;
  commit.tenant = default_tenant();
  commit.run_guard = RunGuard{forged.epoch, forged.seq};
  checkpoint.parent = checkpoint.id;
  checkpoint.id = CheckpointId(random_uuid(random));
  ++checkpoint.seq;
  ++checkpoint.state_seq;
  ++forged.seq;
  forged.checkpoint = checkpoint.id;
  forged.status = checkpoint.status = RunStatus::queued;
  forged.due_at = clock.now();
  commit.rows.run = std::move(forged);
  commit.rows.checkpoint = std::move(checkpoint);
  ASSERT_EQ(block_on(loop, kept->commit(std::move(commit))).value(), CommitOutcome::applied);
  runtime.reset();
  work(1h);
  expect_quarantined();
}

}  // namespace
}  // namespace belay
