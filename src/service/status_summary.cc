#include "service/status_summary.h"

#include <algorithm>

#include "belay/limits.h"
#include "load/code_gone.h"
#include "load/stored_run.h"

namespace belay {
namespace {

constexpr std::chrono::hours kEver{24 * 365 * 100};

struct FoundRuns {
  std::vector<RunRow> working, queued, code_gone;
  std::vector<ApprovalRow> open;
};

Result<FoundRuns> find_runs(Snapshot& view, const GraphRegistry& graphs, const TenantId& tenant,
                            const Whose& whose, Instant now) {
  FoundRuns found;
  BELAY_TRY(found.working, running_runs(view, tenant, whose.runs));
  RunFilter queued;
  queued.tenant = tenant;
  queued.user = whose.runs;
  queued.statuses = {RunStatus::queued};
  queued.due_by = now + kEver;
  queued.without_input = true;
  BELAY_TRY(found.queued, view.runs(queued));
  BELAY_TRY(found.code_gone, runs_without_code(view, graphs, tenant, whose.runs));
  ApprovalFilter approvals;
  approvals.tenant = tenant;
  approvals.user = whose.approvals;
  approvals.only_open = true;
  BELAY_TRY(found.open, view.approvals(approvals));
  return found;
}

bool holds(const std::vector<RunRow>& rows, const RunId& run) {
  return std::any_of(rows.begin(), rows.end(), [&](const RunRow& row) { return row.run == run; });
}

}  // namespace

Task<Result<StatusSummary>> status_summary(Store& store,
                                           std::shared_ptr<const GraphRegistry> graphs,
                                           TenantId tenant, Whose whose, Instant now) {
  std::function<Result<FoundRuns>(Snapshot&)> reader =
      [graphs = std::move(graphs), tenant = std::move(tenant), whose = std::move(whose),
       now](Snapshot& view) { return find_runs(view, *graphs, tenant, whose, now); };
  BELAY_CO_TRY(FoundRuns found, co_await read<FoundRuns>(store, std::move(reader)));
  StatusSummary summary;
  summary.open = std::move(found.open);
  for (RunRow& row : found.working) {
    BELAY_CO_TRY(bool alive, store.is_alive(row.session));
    if (alive) {
      std::erase_if(found.code_gone, [&](const RunRow& each) { return each.run == row.run; });
      summary.at_work.push_back(std::move(row));
    } else if (!holds(found.code_gone, row.run)) {
      summary.orphaned.push_back(std::move(row));
    }
  }
  for (RunRow& row : found.queued) {
    if (!holds(found.code_gone, row.run)) summary.queued.push_back(std::move(row));
  }
  if (found.code_gone.size() > limits::list_rows_max) {
    found.code_gone.resize(limits::list_rows_max);
  }
  summary.code_gone = std::move(found.code_gone);
  co_return summary;
}

Task<Result<std::vector<ListedThread>>> threads_with_code(
    Store& store, std::shared_ptr<const GraphRegistry> graphs, TenantId tenant,
    std::function<Result<std::vector<ListedThread>>(Snapshot&)> reader) {
  std::function<Result<std::vector<ListedThread>>(Snapshot&)> with_code =
      [graphs = std::move(graphs), tenant = std::move(tenant),
       reader = std::move(reader)](Snapshot& view) -> Result<std::vector<ListedThread>> {
    BELAY_TRY(std::vector<ListedThread> listed, reader(view));
    for (ListedThread& each : listed) {
      if (!each.run) continue;
      BELAY_TRY(auto why, why_code_is_gone(view, *graphs, *each.run));
      each.code_gone = why.has_value();
    }
    return listed;
  };
  BELAY_CO_TRY(std::vector<ListedThread> listed,
               co_await read<std::vector<ListedThread>>(store, std::move(with_code)));
  for (ListedThread& each : listed) {
    if (!each.code_gone || each.run->status != RunStatus::running) continue;
    BELAY_CO_TRY(bool alive, store.is_alive(each.run->session));
    each.code_gone = !alive;
  }
  co_return listed;
}

}  // namespace belay
