#include "store/memory/prune.h"

#include <algorithm>

namespace belay::store {
namespace {

bool is_preserved(const TenantTables& tenant, const RunTable& run) {
  auto thread = tenant.thread_by_id.find(run.row.thread.text);
  return thread != tenant.thread_by_id.end() && thread->second->preserve;
}

bool has_waiting_message(const RunTable& run) {
  return std::any_of(run.outbox.begin(), run.outbox.end(), [](const auto& entry) {
    return entry.second.row.status == OutboxStatus::waiting;
  });
}

// Deletes the values that no state from `at` on needs: those before a channel's newest `set` up to
// it, and operands of reducers that have been combined.
void forget_values(Channels& channels, std::uint64_t at) {
  for (auto& [name, rows] : channels) {
    if (!name.first.empty()) continue;
    auto [begin, end] = rows_that_count(rows, at);
    auto is_needed = [&, first = begin](const ValueRow& row) {
      auto place = static_cast<std::size_t>(&row - rows.data());
      if (row.seq > at) return true;
      return place >= first && row.kind != WriteOp::reduce;
    };
    std::vector<ValueRow> kept;
    for (ValueRow& row : rows) {
      if (is_needed(row)) kept.push_back(row);
    }
    rows = std::move(kept);
  }
  std::erase_if(channels, [](const auto& channel) { return channel.second.empty(); });
}

// Deletes the values that a run has written, so that the thread has the state before it.
void forget_values_of(const RunRow& run, Channels& channels) {
  std::uint64_t before = value_seq(run, 0);
  std::uint64_t next = value_seq(run.ordinal + 1, 0);
  for (auto& [name, rows] : channels) {
    std::erase_if(rows, [&](const ValueRow& row) { return row.seq > before && row.seq < next; });
  }
  std::erase_if(channels, [](const auto& channel) { return channel.second.empty(); });
}

// Removes the run from its thread, with the values of the thread's state that no other run needs;
// deletes a thread without runs.
void leave_thread(TenantTables& tenant, const RunTable& run) {
  auto found = tenant.thread_by_id.find(run.row.thread.text);
  ThreadTable& thread = tenant.thread_tables.at(run.row.thread.text);
  // A run that never began has no state that would need the values.
  bool was_newest = std::none_of(thread.runs.upper_bound(run.number), thread.runs.end(),
                                 [](const auto& later) { return has_started(later.second->row); });
  thread.runs.erase(run.number);
  if (thread.runs.empty()) {
    tenant.thread_tables.erase(run.row.thread.text);
    tenant.threads.erase(found->second);
    tenant.thread_by_id.erase(found);
    return;
  }
  found->second->last_run = thread.runs.rbegin()->second->row.run;
  if (!was_newest) {
    forget_values(thread.channels, value_seq(thread.runs.begin()->second->row, 0));
  } else if (run.row.ordinal > 0) {
    forget_values_of(run.row, thread.channels);
  }
}

void forget_run(TenantTables& tenant, const RunId& id) {
  auto found = tenant.run_by_id.find(id);
  RunTable& run = *found->second;
  for (ApprovalRow* approval : run.approvals) {
    auto asked = tenant.approval_by_id.find(approval->interrupt);
    tenant.approvals.erase(asked->second);
    tenant.approval_by_id.erase(asked);
  }
  for (auto& [key, record] : tenant.records) {
    if (record.row.run != id) continue;
    record.row.run = RunId();
    record.row.seq = 0;
  }
  leave_thread(tenant, run);
  tenant.runs.erase(found->second);
  tenant.run_by_id.erase(found);
}

void forget_before(TenantTables& tenant, RunTable& run, std::uint64_t before_seq) {
  std::uint64_t first = std::min(before_seq, run.row.seq);
  const CheckpointRow* found = run.checkpoint(first);
  // If the commit is partway through a superstep, its state is that of state_seq and the pending
  // writes since: the chain must then begin at the checkpoint of state_seq.
  if (found && found->state_seq < first) {
    first = found->state_seq;
    found = run.checkpoint(first);
  }
  if (!found) return;
  CheckpointRow anchor = *found;
  std::erase_if(run.checkpoints, [&](const CheckpointRow& row) { return row.seq < first; });
  std::erase_if(run.events, [&](const EventRow& row) { return row.seq < first; });
  std::erase_if(run.tasks, [&](const auto& entry) {
    return entry.second.checkpoint_ns.empty() && entry.second.superstep < anchor.superstep;
  });
  if (run.row.ordinal == 0) {
    forget_values(run.channels, anchor.state_seq);
    return;
  }
  // The states of earlier runs need the values before this run, too.
  ThreadTable& thread = tenant.thread_tables.at(run.row.thread.text);
  bool is_oldest = thread.runs.begin()->second == &run;
  if (is_oldest) forget_values(thread.channels, value_seq(run.row, anchor.state_seq));
}

}  // namespace

void prune(TenantTables& tenant, const PruneRun& prune) {
  RunTable* run = tenant.run(prune.run);
  if (!run || is_preserved(tenant, *run)) return;
  if (prune.before_seq) {
    bool goes_on = run->row.status == RunStatus::queued || run->row.status == RunStatus::running;
    if (!goes_on) forget_before(tenant, *run, *prune.before_seq);
    return;
  }
  bool have_all_ended = tenant.thread_tables.at(run->row.thread.text).not_ended.empty();
  if (have_all_ended && !has_waiting_message(*run)) forget_run(tenant, prune.run);
}

}  // namespace belay::store
