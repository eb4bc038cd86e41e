#include "driver/stored_run.h"

namespace belay {

Result<RunRow> latest_run(Snapshot& view, const TenantId& tenant, const ThreadId& thread) {
  RunFilter filter;
  filter.tenant = tenant;
  filter.thread = thread;
  filter.limit = 1;
  BELAY_TRY(auto rows, view.runs(filter));
  if (!rows.empty()) return std::move(rows.front());
  return error(ErrorCode::not_found, "Execution thread not found or expired: \"" + thread.text +
                                         "\". `belay threads` lists those that there are.");
}

Result<RunRow> run_row(Snapshot& view, const TenantId& tenant, const RunId& run) {
  RunFilter filter;
  filter.tenant = tenant;
  filter.run = run;
  filter.limit = 1;
  BELAY_TRY(auto rows, view.runs(filter));
  if (!rows.empty()) return std::move(rows.front());
  return error(ErrorCode::not_found, "There is no run " + run.text() + ".");
}

Result<engine::StoredRun> stored_run(Snapshot& view, RunRow row, std::optional<std::uint64_t> seq) {
  engine::StoredRun stored;
  std::uint64_t wanted = seq.value_or(row.seq);
  CheckpointFilter filter;
  filter.tenant = row.tenant;
  filter.run = row.run;
  filter.before_seq = wanted + 1;
  filter.limit = 2;
  BELAY_TRY(auto checkpoints, view.checkpoints(filter));
  if (checkpoints.empty() || checkpoints.front().seq != wanted) {
    return error(seq ? ErrorCode::not_found : ErrorCode::corrupt,
                 "Thread \"" + row.thread.text + "\" has no commit " + std::to_string(wanted) +
                     "; `belay history` lists those that there are.");
  }
  if (checkpoints.size() > 1) stored.parent_chain_hash = checkpoints[1].chain_hash;
  stored.checkpoint = std::move(checkpoints.front());
  ValueFilter values;
  values.tenant = row.tenant;
  values.run = row.run;
  values.at_seq = wanted;
  BELAY_TRY(stored.values, view.values(values));
  stored.row = std::move(row);
  return stored;
}

Result<std::optional<ApprovalRow>> open_approval(Snapshot& view, const RunRow& run) {
  std::optional<ApprovalRow> open;
  if (run.status != RunStatus::paused) return open;
  ApprovalFilter filter;
  filter.tenant = run.tenant;
  filter.run = run.run;
  filter.only_open = true;
  filter.limit = 1;
  BELAY_TRY(auto rows, view.approvals(filter));
  if (!rows.empty()) open = std::move(rows.front());
  return open;
}

Result<ApprovalRow> approval_row(Snapshot& view, const TenantId& tenant,
                                 const InterruptId& interrupt) {
  ApprovalFilter filter;
  filter.tenant = tenant;
  filter.interrupt = interrupt;
  filter.limit = 1;
  BELAY_TRY(auto rows, view.approvals(filter));
  if (!rows.empty()) return std::move(rows.front());
  return error(ErrorCode::not_found, "There is no approval " + interrupt.text() +
                                         ". `belay approvals list --all` lists those that there "
                                         "are.");
}

}  // namespace belay
