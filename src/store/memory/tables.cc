#include "store/memory/tables.h"

#include <algorithm>

#include "store/commit_check.h"

namespace belay::store {
namespace {

// What the guards allow: which rows to write, or the answer when nothing is to be written.
struct Verdict {
  CommitRows* rows = nullptr;
  CommitOutcome outcome = CommitOutcome::applied;
};

bool is_checkpoint_of(const std::optional<CommitRows>& rows, const CheckpointRow& stored) {
  return rows && rows->checkpoint && rows->checkpoint->id == stored.id;
}

// The run stands elsewhere than the guard says: was it this very commit that moved it?
CommitOutcome outcome_of_moved_run(const Commit& commit, const RunTable& run) {
  std::uint64_t position = commit.guard->seq;
  if (position < run.checkpoints.size()) {
    const CheckpointRow& stored = run.checkpoints[position];
    if (commit.rows.checkpoint->id == stored.id) return CommitOutcome::applied;
    if (is_checkpoint_of(commit.when_expired, stored)) return CommitOutcome::expired;
  }
  return commit.guard->seq == 0 ? CommitOutcome::exists : CommitOutcome::fenced;
}

Verdict judge_approval(Commit& commit, const TenantTables& tenant, Clock& clock) {
  const ApprovalGuard& guard = *commit.approval;
  auto found = tenant.approval_by_id.find(guard.interrupt);
  if (found == tenant.approval_by_id.end()) return {nullptr, CommitOutcome::approval_closed};
  const ApprovalRow& approval = *found->second;
  bool is_asked = approval.status == ApprovalStatus::open &&
                  approval.payload_hash == guard.payload_hash &&
                  (!commit.rows.run || commit.rows.run->run == approval.run);
  if (!is_asked) return {nullptr, CommitOutcome::approval_closed};
  bool has_passed = approval.expires_at <= clock.now();
  if (has_passed == (guard.expiry == ApprovalGuard::Expiry::passed)) return {&commit.rows};
  if (has_passed && commit.when_expired) return {&*commit.when_expired, CommitOutcome::expired};
  return {nullptr, CommitOutcome::approval_closed};
}

// Leaves `run` null for a commit without a guard and for a run's first commit.
Result<Verdict> judge(Commit& commit, TenantTables& tenant, Clock& clock, RunTable*& run) {
  if (commit.guard) {
    const RunRow& row = *commit.rows.run;
    auto found = tenant.run_by_id.find(row.run);
    if (found != tenant.run_by_id.end()) {
      run = found->second;
      bool is_mine = run->row.epoch == commit.guard->epoch && run->row.seq == commit.guard->seq;
      if (!is_mine) return Verdict{nullptr, outcome_of_moved_run(commit, *run)};
    } else if (commit.guard->seq != 0 || commit.guard->epoch != 0) {
      return Verdict{nullptr, CommitOutcome::fenced};
    } else if (!commit.rows.thread && !tenant.thread_by_id.contains(row.thread.text)) {
      return no_such_thread(row.thread);
    }
  }
  if (commit.rows.thread && tenant.thread_by_id.contains(commit.rows.thread->thread.text)) {
    return Verdict{nullptr, CommitOutcome::exists};
  }
  if (commit.approval) return judge_approval(commit, tenant, clock);
  return Verdict{&commit.rows};
}

Result<Done> check_opened(const CommitRows& rows, const TenantTables& tenant) {
  for (auto approval = rows.opened.begin(); approval != rows.opened.end(); ++approval) {
    bool is_twice = std::any_of(rows.opened.begin(), approval, [&](const ApprovalRow& other) {
      return other.interrupt == approval->interrupt;
    });
    if (is_twice || tenant.approval_by_id.contains(approval->interrupt)) {
      return approval_exists(approval->interrupt);
    }
  }
  return Done{};
}

// What never changes stays as the run's first commit wrote it.
void update_run(RunRow& stored, RunRow next) {
  stored.status = next.status;
  stored.reason = std::move(next.reason);
  stored.outcome = std::move(next.outcome);
  stored.error_code = std::move(next.error_code);
  stored.error = std::move(next.error);
  stored.seq = next.seq;
  stored.epoch = next.epoch;
  stored.session = next.session;
  stored.checkpoint = next.checkpoint;
  stored.node = std::move(next.node);
  stored.retry_count = next.retry_count;
  stored.worked_ms = next.worked_ms;
  stored.updated_at = next.updated_at;
}

template <typename Row>
void append_all(std::vector<Row>& to, std::vector<Row>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

void decide(ApprovalRow& stored, ApprovalRow decision) {
  stored.status = decision.status;
  stored.decided_by = std::move(decision.decided_by);
  stored.comment = std::move(decision.comment);
  stored.edited = std::move(decision.edited);
  stored.edited_hash = decision.edited_hash;
  stored.decided_at = decision.decided_at;
}

RunTable& insert_run(TenantTables& tenant, RunRow row) {
  RunTable& run = tenant.runs.emplace_back();
  run.row = std::move(row);
  tenant.run_by_id.emplace(run.row.run, &run);
  tenant.thread_by_id.find(run.row.thread.text)->second->last_run = run.row.run;
  return run;
}

void write_approvals(CommitRows& rows, TenantTables& tenant, RunTable* run) {
  if (rows.decided) {
    decide(*tenant.approval_by_id.find(rows.decided->interrupt)->second, std::move(*rows.decided));
  }
  if (!run) return;
  if (rows.close_approvals) {
    for (ApprovalRow* approval : run->approvals) {
      if (approval->status == ApprovalStatus::open) approval->status = ApprovalStatus::closed;
    }
  }
  for (ApprovalRow& opened : rows.opened) {
    ApprovalRow& stored = tenant.approvals.emplace_back(std::move(opened));
    // As of the run's first commit, whatever this one says.
    stored.thread = run->row.thread;
    stored.user = run->row.user;
    stored.graph = run->row.graph;
    tenant.approval_by_id.emplace(stored.interrupt, &stored);
    run->approvals.push_back(&stored);
  }
}

void write_records(CommitRows& rows, TenantTables& tenant, const RunTable* run, Clock& clock) {
  if (rows.records.empty()) return;
  Instant updated_at = run ? run->row.updated_at : clock.now();
  for (RecordPut& put : rows.records) {
    RecordKey key(put.collection, put.user, put.key);
    if (put.envelope.empty()) {
      tenant.records.erase(key);
      continue;
    }
    RecordEntry& entry = tenant.records[std::move(key)];
    StoredRecord& row = entry.row;
    row.collection = std::move(put.collection);
    row.user = std::move(put.user);
    row.key = std::move(put.key);
    row.envelope = std::move(put.envelope);
    row.run = run ? run->row.run : RunId();
    row.seq = run ? run->row.seq : 0;
    row.updated_at = updated_at;
    entry.indexed = std::move(put.indexed);
  }
}

// Nothing here can fail: whatever could be refused has been.
void write(CommitRows& rows, TenantTables& tenant, RunTable* run, Clock& clock) {
  if (rows.thread) {
    ThreadRow& thread = tenant.threads.emplace_back(std::move(*rows.thread));
    thread.last_run = RunId();
    tenant.thread_by_id.emplace(thread.thread.text, &thread);
  }
  if (rows.run) {
    if (run) {
      update_run(run->row, std::move(*rows.run));
    } else {
      run = &insert_run(tenant, std::move(*rows.run));
    }
    run->checkpoints.push_back(std::move(*rows.checkpoint));
    append_all(run->values, rows.values);
    append_all(run->events, rows.events);
  }
  write_approvals(rows, tenant, run);
  write_records(rows, tenant, run, clock);
}

}  // namespace

Result<CommitOutcome> Tables::apply(Commit& commit, Clock& clock) {
  TenantTables& tenant = tenants_[commit.tenant];
  RunTable* run = nullptr;
  auto verdict = judge(commit, tenant, clock, run);
  if (!verdict.ok()) return std::move(verdict).error();
  if (!verdict->rows) return verdict->outcome;
  BELAY_CHECK(check_opened(*verdict->rows, tenant));
  write(*verdict->rows, tenant, run, clock);
  return verdict->outcome;
}

const TenantTables* Tables::tenant(const TenantId& id) const {
  auto found = tenants_.find(id);
  return found == tenants_.end() ? nullptr : &found->second;
}

}  // namespace belay::store
