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

Result<FoundRuns> find_runs(Snapshot& view, const GraphRegistry& graphs,
                            const OtherPrograms& others, const TenantId& tenant, const Whose& whose,
                            Instant now) {
  FoundRuns found;
  BELAY_TRY(found.working, running_runs(view, tenant, whose.runs));
  RunFilter queued;
  queued.tenant = tenant;
  queued.user = whose.runs;
  queued.statuses = {RunStatus::queued};
  queued.due_by = now + kEver;
  queued.without_input = true;
  BELAY_TRY(found.queued, view.runs(queued));
  BELAY_TRY(found.code_gone, runs_without_code(view, graphs, others, tenant, whose.runs));
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
                                           SessionId own, TenantId tenant, Whose whose,
                                           Instant now) {
  auto reader_of = [&](OtherPrograms others) -> std::function<Result<FoundRuns>(Snapshot&)> {
    return [graphs, others = std::move(others), tenant, whose, now](Snapshot& view) {
      return find_runs(view, *graphs, others, tenant, whose, now);
    };
  };
  OtherPrograms others;
  auto reader = reader_of(others);
  BELAY_CO_TRY(FoundRuns found, co_await read<FoundRuns>(store, std::move(reader)));
  // The other processes are asked only if they matter: a store can have had many sessions.
  if (!found.code_gone.empty()) {
    BELAY_CO_TRY(others, co_await other_programs(store, tenant, own));
    auto again = reader_of(std::move(others));
    BELAY_CO_TRY(found, co_await read<FoundRuns>(store, std::move(again)));
  }
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

Task<Result<std::string>> gone_code_of(Store& store, std::shared_ptr<const GraphRegistry> graphs,
                                       SessionId own, RunRow run) {
  bool is_known = graphs->for_version(run.graph, run.graph_hash).ok();
  if (is_known || is_final(run.status)) co_return std::string();
  if (run.status == RunStatus::running) {
    BELAY_CO_TRY(bool is_alive, store.is_alive(run.session));
    if (is_alive) co_return std::string();
  }
  BELAY_CO_TRY(OtherPrograms others, co_await other_programs(store, run.tenant, own));
  std::function<Result<std::optional<std::string>>(Snapshot&)> reader =
      [graphs = std::move(graphs), others = std::move(others), run = std::move(run)](
          Snapshot& view) { return why_code_is_gone(view, *graphs, others, run); };
  BELAY_CO_TRY(std::optional<std::string> why,
               co_await read<std::optional<std::string>>(store, std::move(reader)));
  co_return std::move(why).value_or("");
}

Task<Result<std::vector<ListedThread>>> threads_with_code(
    Store& store, std::shared_ptr<const GraphRegistry> graphs, SessionId own, TenantId tenant,
    std::function<Result<std::vector<ListedThread>>(Snapshot&)> reader) {
  using Listed = std::vector<ListedThread>;
  auto reader_of = [&](OtherPrograms others) -> std::function<Result<Listed>(Snapshot&)> {
    return [graphs, others = std::move(others), reader](Snapshot& view) -> Result<Listed> {
      BELAY_TRY(Listed listed, reader(view));
      for (ListedThread& each : listed) {
        if (!each.run) continue;
        BELAY_TRY(auto why, why_code_is_gone(view, *graphs, others, *each.run));
        each.code_gone = why.has_value();
      }
      return listed;
    };
  };
  OtherPrograms others;
  auto with_code = reader_of(others);
  BELAY_CO_TRY(Listed listed, co_await read<Listed>(store, std::move(with_code)));
  bool is_any_gone = std::any_of(listed.begin(), listed.end(),
                                 [](const ListedThread& each) { return each.code_gone; });
  if (is_any_gone) {
    BELAY_CO_TRY(others, co_await other_programs(store, tenant, own));
    auto again = reader_of(std::move(others));
    BELAY_CO_TRY(listed, co_await read<Listed>(store, std::move(again)));
  }
  for (ListedThread& each : listed) {
    if (!each.code_gone || each.run->status != RunStatus::running) continue;
    BELAY_CO_TRY(bool alive, store.is_alive(each.run->session));
    each.code_gone = !alive;
  }
  co_return listed;
}

}  // namespace belay
