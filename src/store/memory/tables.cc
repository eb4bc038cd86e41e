// Long on purpose: it decides about every commit, and is the reference for the other stores.

#include "store/memory/tables.h"

#include <algorithm>

#include "store/commit_check.h"
#include "store/memory/concurrency.h"
#include "store/memory/envelopes.h"
#include "store/memory/prune.h"
#include "store/record_version.h"

namespace belay::store {
namespace {

// The result of the guards: the rows to write; if null, the outcome of the commit.
struct GuardResult {
  CommitRows* rows = nullptr;
  CommitOutcome outcome = CommitOutcome::applied;
};

bool is_checkpoint_of(const std::optional<CommitRows>& rows, const CheckpointRow& stored) {
  return rows && rows->checkpoint->id == stored.id;
}

// The guard does not hold. If this same commit has changed the run, it was applied before, and its
// sender did not receive the outcome: a commit and its checkpoint share one id.
CommitOutcome outcome_of_moved_run(const Commit& commit, const RunTable& run) {
  if (const CheckpointRow* stored = run.checkpoint(commit.rows.checkpoint->seq)) {
    if (commit.rows.checkpoint->id == stored->id) return CommitOutcome::applied;
    if (is_checkpoint_of(commit.if_expired, *stored)) return CommitOutcome::expired;
  }
  return commit.run_guard->seq == 0 ? CommitOutcome::exists : CommitOutcome::fenced;
}

GuardResult check_approval_guard(Commit& commit, const TenantTables& tenant, Clock& clock) {
  const ApprovalGuard& guard = *commit.approval_guard;
  auto found = tenant.approval_by_id.find(guard.interrupt);
  if (found == tenant.approval_by_id.end()) return {nullptr, CommitOutcome::approval_closed};
  const ApprovalRow& approval = *found->second;
  bool is_asked = approval.status == ApprovalStatus::open &&
                  approval.payload_hash == guard.payload_hash &&
                  approval.decided_at == guard.decided_at &&
                  (!commit.rows.run || commit.rows.run->run == approval.run);
  if (!is_asked) return {nullptr, CommitOutcome::approval_closed};
  if (guard.run_is_active) {
    RunStatus status = tenant.run(approval.run)->row.status;
    bool is_held = status == RunStatus::running || status == RunStatus::queued;
    if (!is_held) return {nullptr, CommitOutcome::fenced};
  }
  bool has_passed = approval.expires_at <= clock.now();
  if (has_passed == (guard.expiry == ApprovalGuard::Expiry::passed)) return {&commit.rows};
  if (has_passed && commit.if_expired) return {&*commit.if_expired, CommitOutcome::expired};
  return {nullptr, CommitOutcome::approval_closed};
}

bool guard_holds(const RunTable& run, const RunGuard& guard) {
  return run.row.epoch == guard.epoch && run.row.seq == guard.seq;
}

GuardResult judge_pending(Commit& commit, TenantTables& tenant, RunTable*& run) {
  run = tenant.run(commit.run_guard->pending_for);
  if (!run || !guard_holds(*run, *commit.run_guard)) return {nullptr, CommitOutcome::fenced};
  return {&commit.rows};
}

bool guard_holds(const TenantTables& tenant, const ThreadGuard& guard) {
  const ThreadTable* thread = tenant.thread(guard.thread);
  return thread && thread->runs.rbegin()->second->row.run == guard.newest_run;
}

// Leaves `run` null if the commit has no guard or is a run's first commit.
Result<GuardResult> judge(Commit& commit, TenantTables& tenant, Clock& clock, RunTable*& run) {
  if (commit.run_guard && !commit.run_guard->pending_for.is_null()) {
    return judge_pending(commit, tenant, run);
  }
  if (commit.run_guard) {
    const RunRow& row = *commit.rows.run;
    run = tenant.run(row.run);
    if (run) {
      if (!guard_holds(*run, *commit.run_guard))
        return GuardResult{nullptr, outcome_of_moved_run(commit, *run)};
    } else if (commit.run_guard->seq != 0 || commit.run_guard->epoch != 0) {
      return GuardResult{nullptr, CommitOutcome::fenced};
    } else if (commit.thread_guard) {
      if (!guard_holds(tenant, *commit.thread_guard))
        return GuardResult{nullptr, CommitOutcome::thread_changed};
    } else if (!commit.rows.thread && !tenant.thread_by_id.contains(row.thread.text)) {
      return no_such_thread(row.thread);
    }
  }
  if (commit.rows.thread && tenant.thread_by_id.contains(commit.rows.thread->thread.text)) {
    return GuardResult{nullptr, CommitOutcome::exists};
  }
  for (const InterruptId& interrupt : commit.require_open) {
    auto found = tenant.approval_by_id.find(interrupt);
    bool is_closed =
        found != tenant.approval_by_id.end() && found->second->status != ApprovalStatus::open;
    if (is_closed) return GuardResult{nullptr, CommitOutcome::approval_closed};
  }
  if (commit.message_guard) {
    const OutboxGuard& guard = *commit.message_guard;
    RunTable* sender = tenant.run(guard.run);
    if (!sender) return GuardResult{nullptr, CommitOutcome::fenced};
    auto found = sender->outbox.find({guard.seq, guard.index});
    bool stands = found != sender->outbox.end() && found->second.row.status == guard.status &&
                  found->second.row.attempts == guard.attempts;
    if (!stands) return GuardResult{nullptr, CommitOutcome::fenced};
  }
  if (commit.approval_guard) return check_approval_guard(commit, tenant, clock);
  return GuardResult{&commit.rows};
}

// A pending write that is sent again asks for the same approval again.
bool is_same_question(const ApprovalRow& stored, const ApprovalRow& opened) {
  return stored.run == opened.run && stored.task == opened.task;
}

Result<Done> check_opened(const CommitRows& rows, const TenantTables& tenant, bool is_pending) {
  for (auto approval = rows.opened.begin(); approval != rows.opened.end(); ++approval) {
    bool is_twice = std::any_of(rows.opened.begin(), approval, [&](const ApprovalRow& other) {
      return other.interrupt == approval->interrupt;
    });
    auto found = tenant.approval_by_id.find(approval->interrupt);
    bool exists = found != tenant.approval_by_id.end() &&
                  !(is_pending && is_same_question(*found->second, *approval));
    if (is_twice || exists) return approval_exists(approval->interrupt);
  }
  return Done{};
}

// Does not change the members that only a run's first commit writes.
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
  stored.due_at = next.due_at;
  stored.lost_claims = next.lost_claims;
  stored.seal = std::move(next.seal);
}

template <typename Row>
void append_all(std::vector<Row>& to, std::vector<Row>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

void decide(ApprovalRow& stored, ApprovalRow decision) {
  stored.status = decision.status;
  stored.decided_by = std::move(decision.decided_by);
  stored.on_behalf_of = std::move(decision.on_behalf_of);
  stored.comment = std::move(decision.comment);
  stored.edited = std::move(decision.edited);
  stored.edited_hash = decision.edited_hash;
  stored.decided_at = decision.decided_at;
  stored.decision_seal = std::move(decision.decision_seal);
}

RunTable& insert_run(TenantTables& tenant, RunRow row) {
  RunTable& run = tenant.runs.emplace_back();
  run.row = std::move(row);
  run.number = ++tenant.last_number;
  tenant.thread_tables[run.row.thread.text].add(run);
  tenant.run_by_id.emplace(run.row.run, std::prev(tenant.runs.end()));
  tenant.thread_by_id.find(run.row.thread.text)->second->last_run = run.row.run;
  return run;
}

void write_approvals(CommitRows& rows, TenantTables& tenant, RunTable* run) {
  if (rows.decided) {
    decide(*tenant.approval_by_id.find(rows.decided->interrupt)->second, std::move(*rows.decided));
  }
  if (!run) return;
  for (ApprovalRow& opened : rows.opened) {
    if (tenant.approval_by_id.contains(opened.interrupt)) continue;  // a pending write, sent again
    ApprovalRow& stored = tenant.approvals.emplace_back(std::move(opened));
    // From the run's first commit, not from this one.
    stored.thread = run->row.thread;
    stored.user = run->row.user;
    stored.graph = run->row.graph;
    tenant.approval_by_id.emplace(stored.interrupt, std::prev(tenant.approvals.end()));
    run->approvals.push_back(&stored);
  }
}

// Applied last: the same commit might request an approval or start an effect.
void end_run(RunTable& run) {
  for (ApprovalRow* approval : run.approvals) {
    if (approval->status == ApprovalStatus::open) approval->status = ApprovalStatus::closed;
  }
  for (auto& [key, entry] : run.effects) {
    if (entry.row.status != EffectStatus::intended) continue;
    entry.row.status = EffectStatus::uncertain;
    // The clock of the process that started the effect might be ahead of the run's.
    entry.row.updated_at = std::max(entry.row.updated_at, run.row.updated_at);
  }
}

// The outcome of the versions that the records must have; nullopt: they have them. A commit without
// a run guard that is sent again has been applied if it finds its own records.
std::optional<CommitOutcome> outcome_of_versions(const Commit& commit, const CommitRows& rows,
                                                 const TenantTables& tenant) {
  bool is_changed = false;
  bool all_own = true;
  for (const RecordPut& put : rows.records) {
    if (!put.expected_version) continue;
    auto found = tenant.records.find(RecordKey(put.collection, put.user, put.key));
    bool exists = found != tenant.records.end();
    std::uint64_t version = exists ? found->second.row.version : 0;
    is_changed = is_changed || version != *put.expected_version;
    all_own = all_own && exists && is_own_write(put, version, found->second.row.envelope);
  }
  if (!is_changed) return std::nullopt;
  return all_own && !commit.run_guard ? CommitOutcome::applied : CommitOutcome::record_changed;
}

void remove_from_orders(TenantTables& tenant, const RecordKey& key, const RecordEntry& entry) {
  const auto& [collection, user, name] = key;
  for (const auto& [index, value] : entry.indexed) {
    if (is_ordered(index)) tenant.orders.erase(OrderKey(collection, user, index, value, name));
  }
}

void write_records(CommitRows& rows, TenantTables& tenant, const RunTable* run, Clock& clock) {
  if (rows.records.empty()) return;
  Instant updated_at = run ? run->row.updated_at : clock.now();
  for (RecordPut& put : rows.records) {
    RecordKey key(put.collection, put.user, put.key);
    auto stored = tenant.records.find(key);
    if (stored != tenant.records.end()) remove_from_orders(tenant, key, stored->second);
    if (put.envelope.empty()) {
      if (stored != tenant.records.end()) tenant.records.erase(stored);
      continue;
    }
    RecordEntry& entry = tenant.records[std::move(key)];
    StoredRecord& row = entry.row;
    row.version = next_version(row.version, updated_at);
    row.expires_at = put.expires_at;
    for (const auto& [index, value] : put.indexed) {
      if (!is_ordered(index)) continue;
      tenant.orders.insert(OrderKey(put.collection, put.user, index, value, put.key));
    }
    row.collection = std::move(put.collection);
    row.user = std::move(put.user);
    row.key = std::move(put.key);
    row.envelope = std::move(put.envelope);
    row.run = run ? run->row.run : RunId();
    row.seq = run ? run->row.seq : 0;
    row.updated_at = updated_at;
    row.seal = std::move(put.seal);
    entry.indexed = std::move(put.indexed);
  }
}

void write_value(Channels& channels, ValueRow value) {
  auto channel = channels.find(
      std::pair<std::string_view, std::string_view>(value.checkpoint_ns, value.channel));
  if (channel == channels.end()) {
    channel = channels.emplace(ChannelName(value.checkpoint_ns, value.channel), 0).first;
  }
  std::vector<ValueRow>& rows = channel->second;
  auto is_before = [](const ValueRow& a, const ValueRow& b) {
    return std::pair(a.seq, a.index) < std::pair(b.seq, b.index);
  };
  if (rows.empty() || is_before(rows.back(), value)) {
    rows.push_back(std::move(value));
    return;
  }
  auto place = std::lower_bound(rows.begin(), rows.end(), value, is_before);
  if (is_before(value, *place)) {
    rows.insert(place, std::move(value));
  } else {
    *place = std::move(value);
  }
}

// Does not change a final status (done, skipped, failed), except that a failed effect can be
// started again with a later attempt.
bool may_become(const EffectRow& stored, const EffectRow& next) {
  if (stored.status == EffectStatus::failed) {
    return next.status == EffectStatus::intended && next.attempt > stored.attempt;
  }
  return stored.status == EffectStatus::intended || stored.status == EffectStatus::uncertain;
}

void write_effect(TenantTables& tenant, RunTable& run, EffectRow effect) {
  auto [entry, is_new] = run.effects.try_emplace({effect.task, effect.name});
  if (is_new) {
    entry->second = {std::move(effect), ++tenant.last_number};
    return;
  }
  EffectRow& stored = entry->second.row;
  if (!may_become(stored, effect)) return;
  effect.created_at = stored.created_at;
  stored = std::move(effect);
}

// Records the outcome of an effect that a process started before it lost its run. A failure is not
// recorded if another process has started another attempt since.
void write_outcome(TenantTables& tenant, EffectRow& outcome) {
  RunTable* run = tenant.run(outcome.run);
  if (!run) return;
  auto found = run->effects.find({outcome.task, outcome.name});
  if (found == run->effects.end()) return;
  EffectRow& stored = found->second.row;
  bool is_open =
      stored.status == EffectStatus::intended || stored.status == EffectStatus::uncertain;
  bool is_told = outcome.status == EffectStatus::done ||
                 (outcome.status == EffectStatus::failed && outcome.attempt == stored.attempt);
  if (!is_open || !is_told) return;
  stored.status = outcome.status;
  stored.envelope = std::move(outcome.envelope);
  stored.updated_at = outcome.updated_at;
  stored.node = std::move(outcome.node);
  stored.effect_class = outcome.effect_class;
  stored.took_ms = outcome.took_ms;
}

void insert_message(TenantTables& tenant, RunTable& run, OutboxRow& message) {
  auto key = std::pair(message.seq, message.index);
  run.outbox.emplace(key, OutboxEntry{std::move(message), ++tenant.last_number});
}

void write_message(TenantTables& tenant, OutboxRow& message) {
  OutboxRow& stored = tenant.run(message.run)->outbox.at({message.seq, message.index}).row;
  stored.status = message.status;
  stored.attempts = message.attempts;
  stored.error = std::move(message.error);
  stored.due_at = message.due_at;
  stored.seal = std::move(message.seal);
}

void write_work(CommitRows& rows, TenantTables& tenant, RunTable& run) {
  for (ValueRow& value : rows.values) {
    if (value.thread.empty()) {
      write_value(run.channels, std::move(value));
      continue;
    }
    // A pending write does not contain its run: this is the stored run's thread.
    value.thread = run.row.thread;
    write_value(tenant.thread_tables[run.row.thread.text].channels, std::move(value));
  }
  for (TaskRow& task : rows.tasks) {
    auto key = std::tuple(task.checkpoint_ns, task.superstep, task.position);
    run.tasks.insert_or_assign(std::move(key), std::move(task));
  }
  for (EffectRow& effect : rows.effects) write_effect(tenant, run, std::move(effect));
  for (CheckpointRow& inner : rows.inner_checkpoints) {
    auto key = std::pair(inner.checkpoint_ns, inner.seq);
    run.inner_checkpoints.insert_or_assign(std::move(key), std::move(inner));
  }
}

// The outcome of an edit that cannot be applied; nullopt: it can. One that is sent again has been
// applied if it finds its own values.
std::optional<CommitOutcome> outcome_of_edit(const CommitRows& rows, const TenantTables& tenant) {
  if (!rows.thread_edit) return std::nullopt;
  const ThreadRow& row = rows.thread_edit->row;
  auto found = tenant.thread_by_id.find(row.thread.text);
  if (found == tenant.thread_by_id.end()) return CommitOutcome::thread_changed;
  const ThreadRow& stored = *found->second;
  bool is_applied = stored.updated_at == row.updated_at && stored.expires_at == row.expires_at &&
                    stored.title == row.title && stored.metadata == row.metadata &&
                    stored.seal == row.seal;
  if (is_applied || stored.updated_at == rows.thread_edit->expected_updated_at) return std::nullopt;
  return CommitOutcome::thread_changed;
}

void edit_thread(TenantTables& tenant, ThreadRow& row) {
  ThreadRow& stored = *tenant.thread_by_id.at(row.thread.text);
  stored.title = std::move(row.title);
  stored.metadata = std::move(row.metadata);
  stored.expires_at = row.expires_at;
  stored.updated_at = row.updated_at;
  stored.seal = std::move(row.seal);
}

void write_unguarded(CommitRows& rows, TenantTables& tenant, bool changes_message) {
  for (EffectRow& outcome : rows.effects) write_outcome(tenant, outcome);
  for (OutboxRow& message : rows.outbox) {
    if (changes_message) {
      write_message(tenant, message);
    } else {
      insert_message(tenant, *tenant.run(message.run), message);
    }
  }
  if (rows.preserve) {
    tenant.thread_by_id.at(rows.preserve->first.text)->preserve = rows.preserve->second;
  }
  if (rows.thread_edit) edit_thread(tenant, rows.thread_edit->row);
  for (const PruneRun& forgotten : rows.prune) prune(tenant, forgotten);
  rewrite_envelopes(tenant, rows.rewrites);
  for (QueueRow& queue : rows.queues) {
    std::string name = queue.name;
    tenant.queues.insert_or_assign(std::move(name), std::move(queue));
  }
  for (const BlobUse& unused : rows.delete_blobs) {
    auto blob = tenant.blobs.find(unused.id);
    bool is_it = blob != tenant.blobs.end() && blob->second.last_put == unused.last_put;
    if (is_it) tenant.blobs.erase(blob);
  }
}

// Must not fail: rows written before an Error would remain. All checks are done before.
void write(Commit& commit, CommitRows& rows, TenantTables& tenant, RunTable* run, Clock& clock) {
  if (rows.thread) {
    ThreadRow& thread = tenant.threads.emplace_back(std::move(*rows.thread));
    thread.last_run = RunId();
    tenant.thread_by_id.emplace(thread.thread.text, std::prev(tenant.threads.end()));
  }
  if (rows.run) {
    if (run) {
      update_run(run->row, std::move(*rows.run));
      tenant.thread_tables[run->row.thread.text].note_status(*run);
    } else {
      run = &insert_run(tenant, std::move(*rows.run));
    }
    for (CheckpointRow& earlier : rows.earlier) run->checkpoints.push_back(std::move(earlier));
    run->checkpoints.push_back(std::move(*rows.checkpoint));
    append_all(run->events, rows.events);
    for (OutboxRow& message : rows.outbox) insert_message(tenant, *run, message);
  }
  if (run) write_work(rows, tenant, *run);
  write_approvals(rows, tenant, run);
  if (rows.ends_run) end_run(*run);
  // Those of a pending write as those of an import: no commit of the run has saved them.
  write_records(rows, tenant, rows.run ? run : nullptr, clock);
  for (BlobRow& row : rows.blobs) {
    auto [blob, is_new] = tenant.blobs.try_emplace(row.id);
    if (is_new) blob->second.envelope = std::move(row.envelope);
    blob->second.last_put = ++tenant.blob_puts;
  }
  if (!commit.run_guard) write_unguarded(rows, tenant, commit.message_guard.has_value());
}

}  // namespace

Result<CommitOutcome> Tables::apply(Commit& commit, Clock& clock) {
  TenantTables& tenant = tenants_[commit.tenant];
  RunTable* run = nullptr;
  auto verdict = judge(commit, tenant, clock, run);
  if (!verdict.ok()) return std::move(verdict).error();
  if (!verdict->rows) return verdict->outcome;
  CommitRows& rows = *verdict->rows;
  if (!has_capacity(commit, tenant, run, rows)) return CommitOutcome::limit_reached;
  if (auto outcome = outcome_of_edit(rows, tenant)) return *outcome;
  if (auto outcome = outcome_of_versions(commit, rows, tenant)) return *outcome;
  bool is_pending = commit.run_guard && !commit.run_guard->pending_for.is_null();
  BELAY_CHECK(check_opened(rows, tenant, is_pending));
  if (rows.preserve && !tenant.thread_by_id.contains(rows.preserve->first.text)) {
    return no_such_thread(rows.preserve->first);
  }
  write(commit, rows, tenant, run, clock);
  return verdict->outcome;
}

std::pair<std::size_t, std::size_t> rows_that_count(const std::vector<ValueRow>& rows,
                                                    std::uint64_t at_seq) {
  auto after =
      std::upper_bound(rows.begin(), rows.end(), at_seq,
                       [](std::uint64_t seq, const ValueRow& row) { return seq < row.seq; });
  auto end = static_cast<std::size_t>(after - rows.begin());
  std::size_t begin = end;
  while (begin > 0 && rows[begin - 1].kind != WriteOp::set) --begin;
  return {begin == 0 ? 0 : begin - 1, end};
}

StoreStatistics Tables::statistics() {
  StoreStatistics found;
  std::map<std::string, TableStatistics> tables;
  for (auto& [id, tenant] : tenants_) {
    tables["threads"].rows += tenant.threads.size();
    tables["runs"].rows += tenant.runs.size();
    for (const RunTable& run : tenant.runs) {
      tables["checkpoints"].rows += run.checkpoints.size() + run.inner_checkpoints.size();
      tables["events"].rows += run.events.size();
    }
    auto count = [&](Visited visited) {
      const std::string& subject = visited.subject.row;
      TableStatistics& table = tables[subject.substr(0, subject.find(' ')) + "s"];
      ++table.rows;
      table.bytes += visited.envelope.size();
      found.bytes += visited.envelope.size();
    };
    for_each_envelope(tenant, false, count);
  }
  for (auto& [name, table] : tables) {
    table.name = name;
    found.tables.push_back(std::move(table));
  }
  return found;
}

const TenantTables* Tables::tenant(const TenantId& id) const {
  auto found = tenants_.find(id);
  return found == tenants_.end() ? nullptr : &found->second;
}

}  // namespace belay::store
