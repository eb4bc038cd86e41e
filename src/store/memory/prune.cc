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

void leave_thread(TenantTables& tenant, const ThreadId& thread) {
  auto found = tenant.thread_by_id.find(thread.text);
  if (found == tenant.thread_by_id.end()) return;
  auto newest = std::find_if(tenant.runs.rbegin(), tenant.runs.rend(),
                             [&](const RunTable& run) { return run.row.thread == thread; });
  if (newest != tenant.runs.rend()) {
    found->second->last_run = newest->row.run;
    return;
  }
  tenant.threads.erase(found->second);
  tenant.thread_by_id.erase(found);
}

void forget_run(TenantTables& tenant, const RunId& id) {
  auto found = tenant.run_by_id.find(id);
  RunTable& run = *found->second;
  ThreadId thread = run.row.thread;
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
  tenant.runs.erase(found->second);
  tenant.run_by_id.erase(found);
  leave_thread(tenant, thread);
}

// Deletes the values that no state from `anchor` on needs: those before a channel's newest `set` up
// to it, and operands of reducers that have been combined.
void forget_values(RunTable& run, const CheckpointRow& anchor) {
  for (auto& [name, rows] : run.channels) {
    if (!name.first.empty()) continue;
    auto [begin, end] = rows_that_count(rows, anchor.state_seq);
    auto is_needed = [&, first = begin](const ValueRow& row) {
      auto place = static_cast<std::size_t>(&row - rows.data());
      if (row.seq > anchor.state_seq) return true;
      return place >= first && row.kind != WriteOp::reduce;
    };
    std::vector<ValueRow> kept;
    for (ValueRow& row : rows) {
      if (is_needed(row)) kept.push_back(row);
    }
    rows = std::move(kept);
  }
  std::erase_if(run.channels, [](const auto& channel) { return channel.second.empty(); });
}

void forget_before(RunTable& run, std::uint64_t before_seq) {
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
  forget_values(run, anchor);
}

}  // namespace

void prune(TenantTables& tenant, const PruneRun& prune) {
  RunTable* run = tenant.run(prune.run);
  if (!run || is_preserved(tenant, *run)) return;
  if (prune.before_seq) {
    bool goes_on = run->row.status == RunStatus::queued || run->row.status == RunStatus::running;
    if (!goes_on) forget_before(*run, *prune.before_seq);
    return;
  }
  if (is_final(run->row.status) && !has_waiting_message(*run)) forget_run(tenant, prune.run);
}

}  // namespace belay::store
