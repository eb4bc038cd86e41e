// Expires overdue approvals and continues paused runs whose timers are due.

#include "driver/runtime_body.h"
#include "engine/advance.h"
#include "engine/decision.h"
#include "engine/restore.h"

namespace belay {

// Returns true if this call recorded the expiry.
Task<Result<bool>> Runtime::Impl::expire(ApprovalRow approval) {
  // A page of several rows does not fail because of a damaged row: it only marks the row.
  BELAY_CO_CHECK(engine::check_shown(approval));
  auto found = co_await load_run(approval.tenant, approval.run);
  if (!found.ok()) co_return std::move(found).error();
  RunStatus status = found->stored.row.status;
  if (is_final(status)) co_return false;
  if (status == RunStatus::running || status == RunStatus::queued) {
    // Expiry::passed: the store's clock must agree that the approval has expired. If the clock of
    // this process is ahead, the outcome is approval_closed, and a later round tries again.
    Commit commit;
    commit.tenant = approval.tenant;
    commit.approval_guard.emplace();
    commit.approval_guard->interrupt = approval.interrupt;
    commit.approval_guard->payload_hash = approval.payload_hash;
    commit.approval_guard->expiry = ApprovalGuard::Expiry::passed;
    commit.approval_guard->run_is_active = true;
    commit.rows.decided = engine::decided_row(expired(approval));
    auto outcome = co_await parts_.store.commit(std::move(commit));
    if (!outcome.ok()) co_return std::move(outcome).error();
    co_return *outcome == CommitOutcome::applied;
  }
  // A paused run that does not wait for this approval is not changed.
  engine::Event event = expired(std::move(approval));
  auto view = co_await commit_and_drive(*std::move(found), std::move(event), false);
  if (!view.ok()) co_return std::move(view).error();
  co_return view->has_value();
}

Task<Result<std::vector<ApprovalRow>>> Runtime::Impl::find_due(ApprovalFilter due) {
  std::function<Result<std::vector<ApprovalRow>>(Snapshot&)> reader =
      [due = std::move(due)](Snapshot& view) { return view.approvals(due); };
  co_return co_await read<std::vector<ApprovalRow>>(parts_.store, std::move(reader));
}

Task<Result<std::size_t>> Runtime::Impl::process_due(TenantId tenant) {
  auto expired = co_await expire_due(tenant);
  if (!expired.ok()) co_return std::move(expired).error();
  auto woken = co_await wake_due(std::move(tenant));
  if (!woken.ok()) co_return std::move(woken).error();
  co_return *expired + *woken;
}

// Approvals whose expiry cannot be recorded now (concurrency limit, damaged run) remain due: each
// page starts after the previous one, so that they do not block others.
Task<Result<std::size_t>> Runtime::Impl::expire_due(TenantId tenant) {
  std::size_t count = 0;
  ApprovalFilter due;
  due.tenant = tenant;
  due.only_open = true;
  due.expired_at = parts_.clock.now();
  due.graphs = graphs_->names();
  due.limit = limits::page_rows_max;
  if (due.graphs.empty()) co_return count;
  while (true) {
    auto page = co_await find_due(due);
    if (!page.ok()) co_return std::move(page).error();
    if (page->empty()) co_return count;
    due.before = page->back().interrupt;
    for (ApprovalRow& approval : *page) {
      RunId run = approval.run;
      auto expired = co_await expire(std::move(approval));
      // The concurrency limit of the run is reached: its approval remains open for a later round.
      if (!expired.ok() && is_no_place(expired.error())) continue;
      if (!expired.ok()) {
        // A damaged run is quarantined and must not block the others.
        auto aside = co_await quarantine_or_skip(tenant, run, std::move(expired).error());
        if (!aside.ok()) co_return std::move(aside).error();
        continue;
      }
      if (*expired) ++count;
    }
  }
}

Task<Result<bool>> Runtime::Impl::wake_run(TenantId tenant, RunId run) {
  auto found = co_await load_run(std::move(tenant), run);
  if (!found.ok()) co_return std::move(found).error();
  if (found->stored.row.status != RunStatus::paused) co_return false;
  engine::Event resumed = engine::Resumed{moment(), session_};
  auto view = co_await commit_and_drive(*std::move(found), std::move(resumed), false);
  if (!view.ok()) co_return std::move(view).error();
  co_return view->has_value();
}

// Continues paused runs whose timer is due. Each run is tried once per call: one that cannot
// continue now remains due, and must not block the others.
Task<Result<std::size_t>> Runtime::Impl::wake_due(TenantId tenant) {
  std::size_t count = 0;
  RunFilter due;
  due.tenant = tenant;
  due.statuses = {RunStatus::paused};
  due.due_by = parts_.clock.now();
  due.graphs = graphs_->names();
  due.without_input = true;
  due.limit = limits::page_rows_max;
  if (due.graphs.empty()) co_return count;
  while (true) {
    std::function<Result<std::vector<RunRow>>(Snapshot&)> reader = [due](Snapshot& view) {
      return view.runs(due);
    };
    auto page = co_await read<std::vector<RunRow>>(parts_.store, std::move(reader));
    if (!page.ok()) co_return std::move(page).error();
    if (page->empty()) co_return count;
    for (const RunRow& row : *page) {
      due.except_runs.push_back(row.run);
      auto woken = co_await wake_run(tenant, row.run);
      if (!woken.ok() && is_no_place(woken.error())) continue;
      if (!woken.ok()) {
        auto aside = co_await quarantine_or_skip(tenant, row.run, std::move(woken).error());
        if (!aside.ok()) co_return std::move(aside).error();
      } else if (*woken) {
        ++count;
      }
    }
  }
}

}  // namespace belay
