// Long on purpose: the steps of one commit, in their order.
//
// Applies one commit inside the writer's transaction. No locks are needed: BEGIN IMMEDIATE has
// excluded every other writer (Writer::transact), so that rows cannot change between a guard and
// COMMIT. Other members of the batch can precede this commit in the same transaction; their rows
// are visible here, and are undone together with it.

#include "store/sqlite/commit_writer.h"

#include <algorithm>
#include <cstring>

#include "store/commit_check.h"
#include "store/sqlite/envelopes.h"
#include "store/sqlite/prune.h"

namespace belay::sqlite {
namespace {

constexpr std::size_t known_runs_max = 65'536;

}  // namespace

std::size_t CommitWriter::Hash::operator()(const Uuid& id) const {
  std::uint64_t words[2];
  std::memcpy(words, id.bytes.data(), sizeof words);
  return static_cast<std::size_t>((words[0] ^ words[1]) * 0x9e3779b97f4a7c15ULL >> 7);
}

void CommitWriter::forget() {
  tenants_.clear();
  sessions_.clear();
  runs_.clear();
}

Result<CommitOutcome> CommitWriter::apply(const Commit& commit) {
  BELAY_TRY(CommitOutcome outcome, apply_as_known(commit));
  bool may_be_stale = outcome == CommitOutcome::fenced || outcome == CommitOutcome::exists;
  if (!may_be_stale || !commit.run_guard) return outcome;
  const RunId& run = commit.rows.run ? commit.rows.run->run : commit.run_guard->pending_for;
  // Another process might have pruned the run and imported it again since its number was
  // cached: the guard was then evaluated for another run, or for none. Nothing was written (except
  // perhaps a session's row), so the commit can be applied again with the current number.
  BELAY_TRY(bool was_stale, forget_if_stale(run));
  if (was_stale) return apply_as_known(commit);
  return outcome;
}

Result<CommitOutcome> CommitWriter::apply_as_known(const Commit& commit) {
  Place place;
  BELAY_TRY(place.tenant, known_tenant(commit.tenant));
  if (!commit.run_guard) return apply_without_run(commit, place);
  if (!commit.run_guard->pending_for.is_null()) return apply_pending(commit, place);
  if (place.tenant != 0) {
    BELAY_TRY(place.run, run_number(place.tenant, commit.rows.run->run));
  }
  if (place.run != 0) return apply_next(commit, place);
  if (commit.run_guard->seq != 0 || commit.run_guard->epoch != 0) return CommitOutcome::fenced;
  return apply_first(commit, place);
}

Result<CommitOutcome> CommitWriter::apply_pending(const Commit& commit, Place place) {
  const RunGuard& guard = *commit.run_guard;
  if (place.tenant == 0) return CommitOutcome::fenced;
  BELAY_TRY(place.run, run_number(place.tenant, guard.pending_for));
  BELAY_TRY(bool is_mine, guard_holds(guard, place, guard.pending_for));
  if (!is_mine) return CommitOutcome::fenced;
  BELAY_CHECK(write_work(place, commit.rows));
  // The run's seq does not change, so the guard also holds when the write is sent again. Its
  // approvals then exist, and can be decided: they stay unchanged.
  for (auto opened = commit.rows.opened.begin(); opened != commit.rows.opened.end(); ++opened) {
    bool is_twice = std::any_of(commit.rows.opened.begin(), opened, [&](const ApprovalRow& other) {
      return other.interrupt == opened->interrupt;
    });
    if (is_twice) return store::approval_exists(opened->interrupt);
    BELAY_TRY(bool was_asked, is_asked(place, *opened));
    if (!was_asked) BELAY_CHECK(insert_approval(place, *opened));
  }
  // As of an import: no commit of the run has saved them.
  BELAY_CHECK(put_records(Place{place.tenant, 0}, commit.rows));
  return CommitOutcome::applied;
}

Result<CommitOutcome> CommitWriter::apply_without_run(const Commit& commit, Place place) {
  if (commit.rows.thread && place.tenant != 0) {
    BELAY_TRY(std::int64_t thread, thread_number(place.tenant, commit.rows.thread->thread));
    if (thread != 0) return CommitOutcome::exists;
  }
  GuardResult verdict{&commit.rows};
  if (commit.approval_guard) {
    BELAY_TRY(verdict, check_approval_guard(commit, place));
  }
  if (!verdict.rows) return verdict.outcome;
  BELAY_TRY(auto of_edit, outcome_of_edit(place.tenant, *verdict.rows));
  if (of_edit) return *of_edit;
  BELAY_TRY(auto of_records, outcome_of_versions(commit, place, *verdict.rows));
  if (of_records) return *of_records;
  if (commit.message_guard) {
    BELAY_TRY(bool moved,
              move_message(place.tenant, *commit.message_guard, verdict.rows->outbox[0]));
    if (!moved) return CommitOutcome::fenced;
  }
  BELAY_TRY(place.tenant, tenant_number(commit.tenant));
  if (!commit.message_guard) {
    for (const OutboxRow& message : verdict.rows->outbox) {
      BELAY_TRY(std::int64_t run, sure_run_number(place.tenant, message.run));
      BELAY_CHECK(insert_message(Place{place.tenant, run}, message));
    }
  }
  if (verdict.rows->thread) BELAY_CHECK(insert_thread(place.tenant, *verdict.rows->thread));
  if (verdict.rows->decided) BELAY_CHECK(decide(place.tenant, *verdict.rows->decided));
  BELAY_CHECK(put_records(place, *verdict.rows));
  BELAY_CHECK(put_blobs(place.tenant, *verdict.rows));
  BELAY_CHECK(write_unguarded(place, *verdict.rows));
  return verdict.outcome;
}

Result<Done> CommitWriter::write_unguarded(const Place& place, const CommitRows& rows) {
  for (const EffectRow& outcome : rows.effects) BELAY_CHECK(put_outcome(place.tenant, outcome));
  if (rows.preserve) {
    BELAY_CHECK(preserve(place.tenant, rows.preserve->first, rows.preserve->second));
  }
  if (rows.thread_edit) BELAY_CHECK(edit_thread(place.tenant, rows.thread_edit->row));
  for (const PruneRun& forgotten : rows.prune) {
    BELAY_TRY(std::int64_t run, sure_run_number(place.tenant, forgotten.run));
    runs_.erase(forgotten.run);  // SQLite can assign its number to another run
    if (run != 0) BELAY_CHECK(prune(connection_, place.tenant, run, forgotten));
  }
  for (const QueueRow& queue : rows.queues) BELAY_CHECK(put_queue(place.tenant, queue));
  for (const Rewrite& rewrite : rows.rewrites) {
    BELAY_CHECK(rewrite_envelope(connection_, place.tenant, rewrite));
  }
  return delete_blobs(place.tenant, rows);
}

Result<Done> CommitWriter::preserve(std::int64_t tenant, const ThreadId& thread, bool value) {
  BELAY_TRY(Statement row, connection_.prepare("UPDATE threads SET preserve = ?"
                                               " WHERE tenant_id = ? AND thread_id = ?"));
  row.bind(std::int64_t{value}).bind(tenant).bind(thread.text);
  BELAY_TRY(std::int64_t touched, connection_.run(std::move(row)));
  if (touched == 0) return store::no_such_thread(thread);
  return Done{};
}

Result<CommitOutcome> CommitWriter::apply_first(const Commit& commit, Place place) {
  const RunRow& run = *commit.rows.run;
  std::int64_t thread = 0;
  if (place.tenant != 0) {
    BELAY_TRY(thread, thread_number(place.tenant, run.thread));
  }
  if (commit.thread_guard) {
    BELAY_TRY(bool is_newest, guard_holds(place.tenant, thread, *commit.thread_guard));
    if (!is_newest) return CommitOutcome::thread_changed;
  }
  if (commit.rows.thread && thread != 0) return CommitOutcome::exists;
  if (!commit.rows.thread && thread == 0) return store::no_such_thread(run.thread);
  GuardResult verdict{&commit.rows};
  if (commit.approval_guard) {
    BELAY_TRY(verdict, check_approval_guard(commit, place));
  }
  if (!verdict.rows) return verdict.outcome;
  BELAY_TRY(bool has_place, has_capacity(commit, place, *verdict.rows->run));
  if (!has_place) return CommitOutcome::limit_reached;
  BELAY_TRY(auto of_records, outcome_of_versions(commit, place, *verdict.rows));
  if (of_records) return *of_records;
  BELAY_TRY(place.tenant, tenant_number(commit.tenant));
  BELAY_CHECK(check_opened(place, *verdict.rows));
  if (verdict.rows->thread) BELAY_CHECK(insert_thread(place.tenant, *verdict.rows->thread));
  BELAY_TRY(place.run, insert_run(place.tenant, *verdict.rows->run));
  BELAY_CHECK(write_children(place, *verdict.rows, CheckpointId()));
  remember_checkpoint(*verdict.rows->checkpoint);
  return verdict.outcome;
}

Result<CommitOutcome> CommitWriter::apply_next(const Commit& commit, const Place& place) {
  // move_run() evaluates the RunGuard as part of its UPDATE. The reads before it are for commits
  // with further guards: `fenced` takes precedence over their outcomes, as in the other stores.
  GuardResult verdict{&commit.rows};
  if (commit.approval_guard) {
    BELAY_TRY(bool is_mine, guard_holds(*commit.run_guard, place, commit.rows.run->run));
    if (!is_mine) return outcome_of_moved_run(commit, place);
    BELAY_TRY(verdict, check_approval_guard(commit, place));
    if (!verdict.rows) return verdict.outcome;
  }
  if (!commit.require_open.empty()) {
    BELAY_TRY(bool is_mine, guard_holds(*commit.run_guard, place, commit.rows.run->run));
    if (!is_mine) return outcome_of_moved_run(commit, place);
    BELAY_TRY(bool all_open, are_open(place, commit.require_open));
    if (!all_open) return CommitOutcome::approval_closed;
  }
  BELAY_TRY(bool has_place, has_capacity(commit, place, *verdict.rows->run));
  if (!has_place) return CommitOutcome::limit_reached;
  bool has_versions = std::any_of(verdict.rows->records.begin(), verdict.rows->records.end(),
                                  [](const RecordPut& put) { return put.expected_version; });
  if (has_versions) {
    BELAY_TRY(bool is_mine, guard_holds(*commit.run_guard, place, commit.rows.run->run));
    if (!is_mine) return outcome_of_moved_run(commit, place);
    BELAY_TRY(auto of_records, outcome_of_versions(commit, place, *verdict.rows));
    if (of_records) return *of_records;
  }
  BELAY_TRY(bool moved, move_run(*commit.run_guard, place, *verdict.rows->run));
  if (!moved) return outcome_of_moved_run(commit, place);
  BELAY_CHECK(check_opened(place, *verdict.rows));
  const KnownRun& known = runs_.at(commit.rows.run->run);
  CheckpointId before = known.seq == commit.run_guard->seq ? known.checkpoint : CheckpointId();
  BELAY_CHECK(write_children(place, *verdict.rows, before));
  remember_checkpoint(*verdict.rows->checkpoint);
  return verdict.outcome;
}

// The next commit then stores an empty parent_id instead of this id (insert_checkpoint()).
void CommitWriter::remember_checkpoint(const CheckpointRow& checkpoint) {
  KnownRun& known = runs_.at(checkpoint.run);
  known.seq = checkpoint.seq;
  known.checkpoint = checkpoint.id;
}

Result<bool> CommitWriter::guard_holds(const RunGuard& guard, const Place& place,
                                       const RunId& run) {
  BELAY_TRY(Statement row, connection_.prepare("SELECT 1 FROM runs WHERE run_number = ?"
                                               " AND run_id = ? AND epoch = ? AND seq = ?"));
  row.bind(place.run).bind(run).bind(guard.epoch).bind(guard.seq);
  Statement::Step step = row.step();
  if (step == Statement::Step::failed) return connection_.error();
  return step == Statement::Step::row;
}

Result<bool> CommitWriter::guard_holds(std::int64_t tenant, std::int64_t thread,
                                       const ThreadGuard& guard) {
  BELAY_TRY(Statement row,
            connection_.prepare("SELECT 1 FROM runs WHERE run_number = (SELECT max(run_number)"
                                " FROM runs WHERE tenant_id = ? AND thread_number = ?)"
                                " AND run_id = ?"));
  row.bind(tenant).bind(thread).bind(guard.newest_run);
  Statement::Step step = row.step();
  if (step == Statement::Step::failed) return connection_.error();
  return step == Statement::Step::row;
}

// The guard does not hold. If this same commit has changed the run, it was applied before, and the
// caller did not receive the outcome (`uncertain`, or the process died): a commit and its
// checkpoint share one id. Any other checkpoint at this seq is a competitor's.
Result<CommitOutcome> CommitWriter::outcome_of_moved_run(const Commit& commit, const Place& place) {
  BELAY_TRY(Statement row,
            connection_.prepare("SELECT checkpoint_id FROM checkpoints"
                                " WHERE tenant_id = ? AND run_number = ? AND namespace = ''"
                                " AND seq = ?"));
  row.bind(place.tenant).bind(place.run).bind(commit.rows.checkpoint->seq);
  Statement::Step step = row.step();
  if (step == Statement::Step::failed) return connection_.error();
  if (step == Statement::Step::row) {
    Uuid stored = row.uuid(0);
    if (stored == commit.rows.checkpoint->id) return CommitOutcome::applied;
    if (commit.if_expired && stored == commit.if_expired->checkpoint->id) {
      return CommitOutcome::expired;
    }
  }
  return commit.run_guard->seq == 0 ? CommitOutcome::exists : CommitOutcome::fenced;
}

Result<CommitWriter::GuardResult> CommitWriter::check_approval_guard(const Commit& commit,
                                                                     const Place& place) {
  const ApprovalGuard& guard = *commit.approval_guard;
  BELAY_TRY(Statement row,
            connection_.prepare("SELECT run_number, payload_hash, expires_at,"
                                " coalesce(decided_at, 0) FROM approvals"
                                " WHERE tenant_id = ? AND interrupt_id = ? AND status = 'open'"));
  row.bind(place.tenant).bind(guard.interrupt);
  Statement::Step step = row.step();
  if (step == Statement::Step::failed) return connection_.error();
  bool is_asked = step == Statement::Step::row && row.digest(1) == guard.payload_hash &&
                  row.instant(3) == guard.decided_at &&
                  (!commit.rows.run || row.number(0) == place.run);
  if (!is_asked) return GuardResult{nullptr, CommitOutcome::approval_closed};
  // A decision without a RunGuard. If the run's owner has paused it meanwhile, the caller must
  // decide with a RunGuard, so that the decision also continues the run.
  if (guard.run_is_active) {
    BELAY_TRY(bool held, is_active(row.number(0)));
    if (!held) return GuardResult{nullptr, CommitOutcome::fenced};
  }
  bool has_passed = row.instant(2) <= clock_.now();
  if (has_passed == (guard.expiry == ApprovalGuard::Expiry::passed))
    return GuardResult{&commit.rows};
  if (has_passed && commit.if_expired) {
    return GuardResult{&*commit.if_expired, CommitOutcome::expired};
  }
  return GuardResult{nullptr, CommitOutcome::approval_closed};
}

// Approvals that this same commit opens have no row yet, and count as open.
Result<bool> CommitWriter::are_open(const Place& place,
                                    const std::vector<InterruptId>& interrupts) {
  for (const InterruptId& interrupt : interrupts) {
    BELAY_TRY(Statement row, connection_.prepare("SELECT 1 FROM approvals WHERE tenant_id = ?"
                                                 " AND interrupt_id = ? AND status <> 'open'"));
    row.bind(place.tenant).bind(interrupt);
    Statement::Step step = row.step();
    if (step == Statement::Step::failed) return connection_.error();
    if (step == Statement::Step::row) return false;
  }
  return true;
}

Result<bool> CommitWriter::is_active(std::int64_t run) {
  BELAY_TRY(Statement row, connection_.prepare("SELECT 1 FROM runs WHERE run_number = ?"
                                               " AND status IN ('running', 'queued')"));
  row.bind(run);
  Statement::Step step = row.step();
  if (step == Statement::Step::failed) return connection_.error();
  return step == Statement::Step::row;
}

Result<bool> CommitWriter::is_asked(const Place& place, const ApprovalRow& approval) {
  BELAY_TRY(Statement row, connection_.prepare("SELECT run_number, task_id FROM approvals"
                                               " WHERE tenant_id = ? AND interrupt_id = ?"));
  row.bind(place.tenant).bind(approval.interrupt);
  Statement::Step step = row.step();
  if (step == Statement::Step::failed) return connection_.error();
  if (step == Statement::Step::done) return false;
  bool is_same = row.number(0) == place.run && row.uuid(1) == approval.task;
  if (!is_same) return store::approval_exists(approval.interrupt);
  return true;
}

Result<Done> CommitWriter::check_opened(const Place& place, const CommitRows& rows) {
  for (auto approval = rows.opened.begin(); approval != rows.opened.end(); ++approval) {
    bool is_twice = std::any_of(rows.opened.begin(), approval, [&](const ApprovalRow& other) {
      return other.interrupt == approval->interrupt;
    });
    BELAY_TRY(Statement row, connection_.prepare("SELECT 1 FROM approvals WHERE tenant_id = ?"
                                                 " AND interrupt_id = ?"));
    row.bind(place.tenant).bind(approval->interrupt);
    Statement::Step step = row.step();
    if (step == Statement::Step::failed) return connection_.error();
    if (is_twice || step == Statement::Step::row) {
      return store::approval_exists(approval->interrupt);
    }
  }
  return Done{};
}

// Numbers of ids. SQLite's rows refer to tenants, graphs, sessions, threads and runs by number.

Result<std::int64_t> CommitWriter::known_tenant(const TenantId& tenant) {
  auto known = tenants_.find(tenant.text);
  if (known != tenants_.end()) return known->second;
  BELAY_TRY(Statement row, connection_.prepare("SELECT tenant_id FROM tenants WHERE name = ?"));
  row.bind(tenant.text);
  Statement::Step step = row.step();
  if (step == Statement::Step::failed) return connection_.error();
  if (step == Statement::Step::done) return std::int64_t{0};
  if (tenants_.size() >= known_runs_max) tenants_.clear();
  return tenants_.emplace(tenant.text, row.number(0)).first->second;
}

Result<std::int64_t> CommitWriter::tenant_number(const TenantId& tenant) {
  BELAY_TRY(std::int64_t known, known_tenant(tenant));
  if (known != 0) return known;
  BELAY_TRY(Statement row, connection_.prepare("INSERT INTO tenants (name) VALUES (?)"));
  row.bind(tenant.text);
  BELAY_CHECK(connection_.run(std::move(row)));
  return tenants_.emplace(tenant.text, connection_.last_inserted()).first->second;
}

Result<std::int64_t> CommitWriter::graph_number(std::int64_t tenant, const RunRow& run) {
  {
    BELAY_TRY(Statement row, connection_.prepare("SELECT graph_number FROM graphs WHERE"
                                                 " tenant_id = ? AND name = ?"
                                                 " AND content_hash = ?"));
    row.bind(tenant).bind(run.graph).bind(run.graph_hash);
    Statement::Step step = row.step();
    if (step == Statement::Step::failed) return connection_.error();
    if (step == Statement::Step::row) return row.number(0);
  }
  BELAY_TRY(
      Statement row,
      connection_.prepare("INSERT INTO graphs (tenant_id, name, content_hash) VALUES (?, ?, ?)"));
  row.bind(tenant).bind(run.graph).bind(run.graph_hash);
  BELAY_CHECK(connection_.run(std::move(row)));
  return connection_.last_inserted();
}

Result<std::int64_t> CommitWriter::session_number(const SessionId& session) {
  if (session.is_null()) return std::int64_t{0};
  auto known = sessions_.find(session);
  if (known != sessions_.end()) return known->second;
  if (sessions_.size() >= known_runs_max) sessions_.clear();
  // `wrote` keeps the row when sessions are pruned: other rows now refer to its number.
  {
    BELAY_TRY(Statement used, connection_.prepare("UPDATE sessions SET wrote = 1"
                                                  " WHERE session_id = ? RETURNING number"));
    used.bind(session);
    Statement::Step step = used.step();
    if (step == Statement::Step::failed) return connection_.error();
    if (step == Statement::Step::row) {
      std::int64_t number = used.number(0);
      // A statement that changes rows is complete only after its last step.
      if (used.step() != Statement::Step::done) return connection_.error();
      return sessions_.emplace(session, number).first->second;
    }
  }
  BELAY_TRY(Statement row,
            connection_.prepare("INSERT INTO sessions (session_id, started_at, wrote)"
                                " VALUES (?, ?, 1)"));
  row.bind(session).bind(clock_.now());
  BELAY_CHECK(connection_.run(std::move(row)));
  return sessions_.emplace(session, connection_.last_inserted()).first->second;
}

Result<std::int64_t> CommitWriter::thread_number(std::int64_t tenant, const ThreadId& thread) {
  BELAY_TRY(Statement row, connection_.prepare("SELECT thread_number FROM threads"
                                               " WHERE tenant_id = ? AND thread_id = ?"));
  row.bind(tenant).bind(thread.text);
  Statement::Step step = row.step();
  if (step == Statement::Step::failed) return connection_.error();
  return step == Statement::Step::row ? row.number(0) : 0;
}

Result<std::int64_t> CommitWriter::run_number(std::int64_t tenant, const RunId& run) {
  auto known = runs_.find(run);
  if (known != runs_.end() && known->second.place.tenant == tenant) return known->second.place.run;
  BELAY_TRY(Statement row, connection_.prepare("SELECT run_number FROM runs"
                                               " WHERE tenant_id = ? AND run_id = ?"));
  row.bind(tenant).bind(run);
  Statement::Step step = row.step();
  if (step == Statement::Step::failed) return connection_.error();
  if (step == Statement::Step::done) return std::int64_t{0};
  if (runs_.size() >= known_runs_max) runs_.clear();
  std::int64_t number = row.number(0);
  runs_.insert_or_assign(run, KnownRun{Place{tenant, number}});
  return number;
}

Result<std::int64_t> CommitWriter::sure_run_number(std::int64_t tenant, const RunId& run) {
  BELAY_CHECK(forget_if_stale(run));
  return run_number(tenant, run);
}

Result<bool> CommitWriter::forget_if_stale(const RunId& run) {
  auto known = runs_.find(run);
  if (known == runs_.end()) return false;
  BELAY_TRY(Statement row,
            connection_.prepare("SELECT 1 FROM runs WHERE run_number = ? AND run_id = ?"));
  row.bind(known->second.place.run).bind(run);
  Statement::Step step = row.step();
  if (step == Statement::Step::failed) return connection_.error();
  if (step == Statement::Step::row) return false;
  runs_.erase(known);
  return true;
}

}  // namespace belay::sqlite
