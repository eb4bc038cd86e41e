// RunExecutor: a person's consent to materials that the graph of a run refuses.

#include <algorithm>

#include "engine/advance.h"
#include "engine/restore.h"
#include "worker/run_executor.h"

namespace belay {
namespace {

// Whether a commit of the run records a consent.
Result<bool> has_consent(Snapshot& view, const RunRow& row) {
  CheckpointFilter filter;
  filter.tenant = row.tenant;
  filter.run = row.run;
  filter.limit = limits::page_rows_max;
  while (true) {
    BELAY_TRY(std::vector<CheckpointRow> page, view.checkpoints(filter));
    bool is_in_page = std::any_of(page.begin(), page.end(), [](const CheckpointRow& each) {
      return each.kind == CommitKind::consent;
    });
    if (is_in_page || page.size() < filter.limit) return is_in_page;
    filter.before_seq = page.back().seq;
  }
}

// The graph without the rules that refuse: its upgrades and migrations still apply.
std::shared_ptr<const GraphDefinition> lenient(const GraphDefinition& graph) {
  auto accepting = std::make_shared<GraphDefinition>(graph);
  for (auto& [group, rule] : accepting->material_rules) {
    if (rule == MaterialChange::refuse) rule = MaterialChange::allow;
  }
  return accepting;
}

}  // namespace

// The consent is a commit of the run, with which the run can be continued by any process that has
// these materials. A repeated call, after a lost reply, finds that commit.
Task<Result<bool>> RunExecutor::accept_materials(LoadedRun found, Consent consent) {
  const RunRow row = found.stored.row;
  BELAY_CO_TRY(Definition graph, loader_.graph_of(found.stored));
  BELAY_CO_TRY(BillOfMaterials before, engine::materials_of(found.stored));
  BillOfMaterials accepted = refused_by(*graph, before);
  if (is_final(row.status) || accepted.empty()) {
    std::function<Result<bool>(Snapshot&)> reader = [row](Snapshot& view) {
      return has_consent(view, row);
    };
    BELAY_CO_TRY(bool is_recorded, co_await read<bool>(parts_.store, std::move(reader)));
    if (is_recorded) co_return true;
    co_return error(ErrorCode::invalid,
                    "The run of thread \"" + row.thread.text +
                        "\" has no changed materials that its agent refuses. Resume it without "
                        "accepting changes.");
  }
  BELAY_CO_CHECK(check_free(row));
  Definition accepting = lenient(*graph);
  BELAY_CO_TRY(engine::Run run, engine::restore(*accepting, std::move(found.stored)));
  engine::Event event = engine::Consented{moment(), std::move(consent), std::move(accepted)};
  auto next = engine::advance(*accepting, std::move(run), std::move(event));
  BELAY_ASSERT(next.actions.size() == 1);
  Commit commit = std::move(*std::get<engine::WriteCommit>(next.actions.front()).commit);
  auto outcome = co_await parts_.store.commit(std::move(commit));
  if (!outcome.ok()) co_return std::move(outcome).error();
  live_->wake(row.run);
  co_return *outcome == CommitOutcome::applied;
}

Task<Result<LoadedRun>> RunExecutor::accepted_run(LoadedRun found, Consent consent) {
  BELAY_CO_CHECK(check_name("name of the accepting person", consent.by));
  if (!consent.on_behalf_of.empty()) {
    BELAY_CO_CHECK(check_name("\"on behalf of\" name", consent.on_behalf_of));
  }
  TenantId tenant = found.stored.row.tenant;
  ThreadId thread = found.stored.row.thread;
  RunId run = found.stored.row.run;
  bool is_accepted = false;
  while (!is_accepted) {
    Consent wanted = consent;
    BELAY_CO_TRY(is_accepted, co_await accept_materials(std::move(found), std::move(wanted)));
    // Not accepted: the run has changed since it was read.
    BELAY_CO_TRY(found, co_await loader_.load_thread(tenant, thread, std::nullopt, run));
  }
  co_return std::move(found);
}

}  // namespace belay
