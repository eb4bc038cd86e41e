// A run that is imported from another store, with all of its commits in one commit.

#include <algorithm>

#include "tests/conformance/store_suite.h"

namespace belay::conformance {
namespace {

template <typename Filter>
Filter of_run(const RunId& run) {
  Filter filter;
  filter.tenant = default_tenant();
  filter.run = run;
  return filter;
}

std::vector<CheckpointRow> oldest_first(Caller& call, const RunId& run,
                                        const std::string& checkpoint_ns) {
  auto filter = of_run<CheckpointFilter>(run);
  filter.checkpoint_ns = checkpoint_ns;
  std::vector<CheckpointRow> rows = call.checkpoints(filter);
  std::reverse(rows.begin(), rows.end());
  return rows;
}

// Returns all stored data of the run as the commit that imports it into another store.
Commit import_from(Caller& call, const RunId& id) {
  Commit commit;
  commit.tenant = default_tenant();
  commit.run_guard.emplace();
  commit.imports = true;
  CommitRows& rows = commit.rows;
  rows.run = call.run(id);
  ThreadFilter threads;
  threads.tenant = default_tenant();
  threads.thread = rows.run->thread;
  rows.thread = call.threads(threads).at(0);
  rows.earlier = oldest_first(call, id, "");
  rows.checkpoint = rows.earlier.back();
  rows.earlier.pop_back();
  rows.inner_checkpoints = oldest_first(call, id, "inner");
  auto values = of_run<ValueFilter>(id);
  values.at_seq = 1'000;
  values.every_version = true;
  rows.values = call.values(values);
  rows.events = call.events(of_run<EventFilter>(id));
  rows.opened = call.approvals(of_run<ApprovalFilter>(id));
  rows.tasks = call.tasks(of_run<TaskFilter>(id));
  rows.effects = call.effects(of_run<EffectFilter>(id));
  rows.outbox = call.outbox(of_run<OutboxFilter>(id));
  return commit;
}

// Writes a run with a row of every kind.
RunScript play(Caller& call) {
  RunScript run("abroad");
  EXPECT_EQ(call.commit(run.first()), CommitOutcome::applied);
  EXPECT_EQ(call.commit(run.next()), CommitOutcome::applied);
  Commit rich = run.next();
  rich.rows.effects = {run.effect("mail", EffectStatus::done)};
  rich.rows.outbox = {run.message(0)};
  rich.rows.inner_checkpoints = {run.inner_checkpoint("inner", 1)};
  EXPECT_EQ(call.commit(rich), CommitOutcome::applied);
  EXPECT_EQ(call.commit(run.ask(Instant::max())), CommitOutcome::applied);
  EXPECT_EQ(call.commit(run.decide(ApprovalStatus::approved)), CommitOutcome::applied);
  return run;
}

TEST_P(StoreSuite, ARunComesFromAnotherStoreWithAllOfItsCommits) {
  RunScript run = play(*call_);
  Commit commit = import_from(*call_, run.row.run);
  EXPECT_EQ(commit.rows.earlier.size(), 4u);

  TemporaryFolder elsewhere;
  auto other = GetParam().open(elsewhere.path(), clock_, random_).value();
  Caller there(*other);
  EXPECT_EQ(there.commit(commit), CommitOutcome::applied);
  EXPECT_EQ(there.rows(), call_->rows());

  EXPECT_EQ(there.commit(commit), CommitOutcome::applied) << "sent again, after a lost reply";
  EXPECT_EQ(there.rows(), call_->rows());
  EXPECT_EQ(there.commit(run.next()), CommitOutcome::applied) << "and it goes on";
}

TEST_P(StoreSuite, AnImportOfARunThatIsThereWritesNothing) {
  RunScript run = play(*call_);
  Commit commit = import_from(*call_, run.row.run);
  Commit older = commit;
  older.rows.checkpoint = older.rows.earlier.back();
  older.rows.earlier.pop_back();
  older.rows.run->seq = older.rows.checkpoint->seq;
  older.rows.run->checkpoint = older.rows.checkpoint->id;
  older.rows.run->status = older.rows.checkpoint->status;
  older.rows.opened.clear();
  std::erase_if(older.rows.values, [&](auto& row) { return row.seq > older.rows.run->seq; });
  std::erase_if(older.rows.events, [&](auto& row) { return row.seq > older.rows.run->seq; });
  std::string before = call_->rows();
  EXPECT_EQ(call_->commit(older), CommitOutcome::applied)
      << "its newest commit is there: as if it had been sent before";
  older.rows.checkpoint->id = CheckpointId(derived_uuid("another"));
  older.rows.run->checkpoint = older.rows.checkpoint->id;
  EXPECT_EQ(call_->commit(older), CommitOutcome::exists);
  EXPECT_EQ(call_->rows(), before);
}

TEST_P(StoreSuite, MalformedImportsAreRefused) {
  RunScript run = play(*call_);
  Commit sound = import_from(*call_, run.row.run);
  TemporaryFolder elsewhere;
  auto other = GetParam().open(elsewhere.path(), clock_, random_).value();
  Caller there(*other);
  std::vector<std::pair<std::string, std::function<void(Commit&)>>> faults{
      {"it is no import", [](Commit& c) { c.imports = false; }},
      {"a gap", [](Commit& c) { c.rows.earlier.erase(c.rows.earlier.begin() + 1); }},
      {"another run's checkpoint",
       [](Commit& c) { c.rows.earlier[1].run = RunId(derived_uuid("another")); }},
      {"a subgraph's checkpoint", [](Commit& c) { c.rows.earlier[1].checkpoint_ns = "inner"; }},
      {"another run's event",
       [](Commit& c) { c.rows.events[0].run = RunId(derived_uuid("another")); }},
      {"an event of later", [](Commit& c) { c.rows.events.back().seq = 99; }},
      {"events out of order", [](Commit& c) { std::swap(c.rows.events[0], c.rows.events[1]); }},
      {"a message of later", [](Commit& c) { c.rows.outbox.at(0).seq = 99; }},
      {"another run's message",
       [](Commit& c) { c.rows.outbox.at(0).run = RunId(derived_uuid("another")); }},
      {"a message twice", [](Commit& c) { c.rows.outbox.push_back(c.rows.outbox.at(0)); }},
      {"another tenant's approval",
       [](Commit& c) { c.rows.opened.at(0).tenant = TenantId("another"); }},
      {"an approval of later", [](Commit& c) { c.rows.opened.at(0).seq = 99; }},
      {"an approval of another run",
       [](Commit& c) { c.rows.opened.at(0).run = RunId(derived_uuid("another")); }},
      {"a guard of a run that stands", [](Commit& c) { c.run_guard->seq = 4; }},
      {"a guard of a run that was taken over", [](Commit& c) { c.run_guard->epoch = 1; }},
      {"no guard", [](Commit& c) { c.run_guard.reset(); }},
      {"a pending write", [](Commit& c) { c.run_guard->pending_for = c.rows.run->run; }},
      {"another outcome for later", [](Commit& c) { c.if_expired.emplace(); }},
      {"a guarded approval",
       [](Commit& c) {
         c.approval_guard.emplace();
         c.approval_guard->interrupt = c.rows.opened.at(0).interrupt;
       }},
      {"it ends a run that goes on",
       [](Commit& c) {
         c.rows.ends_run = true;
         c.rows.run->status = RunStatus::running;
         c.rows.checkpoint->status = RunStatus::running;
       }},
      {"a checkpoint too many", [](Commit& c) { c.rows.earlier.push_back(c.rows.earlier.back()); }},
      {"more checkpoints than commits", [](Commit& c) {
         c.rows.run->seq = 2;
         c.rows.checkpoint->seq = 2;
       }}};
  for (auto& [what, spoil] : faults) {
    Commit spoilt = sound;
    spoil(spoilt);
    auto outcome = there.try_commit(spoilt);
    ASSERT_FALSE(outcome.ok()) << what;
    EXPECT_EQ(outcome.error().code, ErrorCode::invalid) << what;
  }
  EXPECT_TRUE(there.threads({default_tenant()}).empty());
}

TEST_P(StoreSuite, OnlyAnImportBringsEarlierCheckpoints) {
  RunScript run = play(*call_);
  std::vector<CheckpointRow> earlier = oldest_first(*call_, run.row.run, "");
  std::string before = call_->rows();
  for (Commit spoilt :
       {run.pending({{.channel = "text"}}), import_of({record_put("k", "1")}), run.next()}) {
    spoilt.rows.earlier = earlier;
    auto outcome = call_->try_commit(spoilt);
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, ErrorCode::invalid);
  }
  EXPECT_EQ(call_->rows(), before);
}

}  // namespace
}  // namespace belay::conformance
