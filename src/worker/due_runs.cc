// Expires overdue approvals and continues paused runs whose timers are due.

#include "worker/due_runs.h"

#include <map>

#include "belay/limits.h"
#include "engine/advance.h"
#include "engine/restore.h"

namespace belay {
namespace {

// Groups the approvals by run, in the order of each run's first one.
std::vector<std::vector<ApprovalRow>> by_run(std::vector<ApprovalRow> approvals) {
  std::vector<std::vector<ApprovalRow>> groups;
  std::map<RunId, std::size_t> group_of;
  for (ApprovalRow& approval : approvals) {
    auto [at, is_new] = group_of.emplace(approval.run, groups.size());
    if (is_new) groups.emplace_back();
    groups[at->second].push_back(std::move(approval));
  }
  return groups;
}

}  // namespace

// Returns whether the commit was applied. If it added the message of the expiry, this process
// delivers it without waiting for its next poll.
Task<Result<bool>> DueRuns::commit_expiry(Commit commit) {
  TenantId tenant = commit.tenant;
  RunId run = commit.rows.decided->run;
  bool publishes = !commit.rows.outbox.empty();
  auto outcome = co_await parts_.store.commit(std::move(commit));
  if (!outcome.ok()) co_return std::move(outcome).error();
  bool is_applied = *outcome == CommitOutcome::applied;
  if (is_applied && publishes) executor_.outbox().look_at(tenant, run);
  co_return is_applied;
}

// Returns true if this call recorded the expiry.
Task<Result<bool>> DueRuns::expire(ApprovalRow approval) {
  auto found = co_await loader_.load_run(approval.tenant, approval.run);
  if (!found.ok()) co_return std::move(found).error();
  RunStatus status = found->stored.row.status;
  if (is_final(status)) co_return false;
  if (status == RunStatus::running || status == RunStatus::queued) {
    co_return co_await expire_of_active_run(std::move(approval));
  }
  // A paused run that does not wait for this approval is not changed.
  engine::Event event = executor_.expiry_of(std::move(approval));
  auto view = co_await executor_.commit_and_drive(*std::move(found), std::move(event), false);
  if (!view.ok()) co_return std::move(view).error();
  co_return view->has_value();
}

// Writes only the approval's row. The run's owner, or its next one, applies the expiry. Returns
// false if the run is neither running nor queued.
Task<Result<bool>> DueRuns::expire_of_active_run(ApprovalRow approval) {
  engine::Run active;
  active.row.tenant = approval.tenant;
  GraphDefinition unknown;
  engine::ExpiredWhileActive event{executor_.moment(), std::move(approval)};
  auto next = engine::advance(unknown, std::move(active), std::move(event));
  if (auto* refused = std::get_if<engine::Refuse>(&next.actions.front())) {
    co_return std::move(refused->why);
  }
  // The store's clock must agree that the approval has expired. If the clock of this process is
  // ahead, the outcome is approval_closed, and a later round tries again.
  Commit commit = std::move(*std::get<engine::WriteCommit>(next.actions.front()).commit);
  co_return co_await commit_expiry(std::move(commit));
}

// Expires one approval of a paused run and puts the run into its queue, without a concurrency
// limit. Returns false, and writes nothing, if the run is not paused or does not wait for it.
Task<Result<bool>> DueRuns::expire_into_queue(ApprovalRow approval) {
  auto found = co_await loader_.load_run(approval.tenant, approval.run);
  if (!found.ok()) co_return std::move(found).error();
  if (found->stored.row.status != RunStatus::paused) co_return false;
  BELAY_CO_TRY(RunLoader::Definition graph, loader_.graph_to_continue(found->stored));
  BELAY_CO_TRY(engine::Run run, engine::restore(*graph, std::move(found->stored)));
  engine::Decided late = executor_.expiry_of(std::move(approval));
  late.to_queue = true;
  auto next = engine::advance(*graph, std::move(run), std::move(late));
  if (next.actions.empty()) co_return false;
  if (auto* refused = std::get_if<engine::Refuse>(&next.actions.front())) {
    co_return std::move(refused->why);
  }
  Commit commit = std::move(*std::get<engine::WriteCommit>(next.actions.front()).commit);
  co_return co_await commit_expiry(std::move(commit));
}

// Expires several approvals of one run and returns how many of them this call expired. To load the
// run, commit and pause again for each approval would take time in proportion to the square of
// their number: a run can wait for thousands. Therefore the first one puts the run into its queue,
// the others write only their rows, and the run then continues once and applies them together.
Task<Result<std::size_t>> DueRuns::expire_together(std::vector<ApprovalRow> approvals) {
  std::size_t count = 0;
  TenantId tenant = approvals.front().tenant;
  RunId run = approvals.front().run;
  bool is_alone = approvals.size() == 1 || executor_.is_draining();
  bool in_queue = false;
  for (ApprovalRow& approval : approvals) {
    if (!is_alone) {
      // First, because it does not load the run: it is running or queued, or the loop queued it.
      auto expired = co_await expire_of_active_run(approval);
      if (!expired.ok()) co_return std::move(expired).error();
      if (*expired) {
        ++count;
        continue;
      }
    }
    if (!is_alone && !in_queue) {
      auto queued = co_await expire_into_queue(approval);
      if (!queued.ok()) co_return std::move(queued).error();
      in_queue = *queued;
      if (in_queue) {
        ++count;
        continue;
      }
    }
    // Also if a worker claimed the run meanwhile and paused it again.
    auto expired = co_await expire(std::move(approval));
    if (!expired.ok()) co_return std::move(expired).error();
    if (*expired) ++count;
  }
  if (!in_queue) co_return count;
  auto found = co_await loader_.load_run(std::move(tenant), run);
  if (!found.ok()) co_return std::move(found).error();
  if (found->stored.row.status != RunStatus::queued) co_return count;
  auto view = co_await executor_.continue_run(*std::move(found), false);
  // `unavailable`: a concurrency limit is reached, or this process drains; the run remains queued.
  // `conflict`: another process has claimed it.
  bool continues_later = !view.ok() && (view.error().code == ErrorCode::unavailable ||
                                        view.error().code == ErrorCode::conflict);
  if (!view.ok() && !continues_later) co_return std::move(view).error();
  co_return count;
}

Task<Result<std::vector<ApprovalRow>>> DueRuns::find_due(ApprovalFilter due) {
  std::function<Result<std::vector<ApprovalRow>>(Snapshot&)> reader =
      [due = std::move(due)](Snapshot& view) { return view.approvals(due); };
  co_return co_await read<std::vector<ApprovalRow>>(parts_.store, std::move(reader));
}

Task<Result<Done>> DueRuns::continue_due(LoadedRun found) {
  ApprovalFilter due;
  due.tenant = found.stored.row.tenant;
  due.run = found.stored.row.run;
  due.only_open = true;
  due.expired_at = parts_.clock.now();
  due.limit = limits::page_rows_max;
  auto late = co_await find_due(std::move(due));
  if (!late.ok()) co_return std::move(late).error();
  if (!late->empty()) {
    auto expired = co_await expire_together(*std::move(late));
    if (!expired.ok()) co_return std::move(expired).error();
    co_return Done{};
  }
  engine::Event resumed = engine::Resumed{executor_.moment(), executor_.session()};
  auto view = co_await executor_.commit_and_drive(std::move(found), std::move(resumed), false);
  if (!view.ok()) co_return std::move(view).error();
  co_return Done{};
}

Task<Result<DueReport>> DueRuns::process_due(TenantId tenant) {
  auto expired = co_await expire_due(tenant);
  if (!expired.ok()) co_return std::move(expired).error();
  auto woken = co_await wake_due(std::move(tenant));
  if (!woken.ok()) co_return std::move(woken).error();
  DueReport report;
  report.expired_approvals = *expired;
  report.continued_runs = *woken;
  co_return report;
}

// Approvals whose expiry cannot be recorded now (concurrency limit, damaged run) remain due: each
// page starts after the previous one, so that they do not block others.
Task<Result<std::size_t>> DueRuns::expire_due(TenantId tenant) {
  std::size_t count = 0;
  ApprovalFilter due;
  due.tenant = tenant;
  due.only_open = true;
  due.expired_at = parts_.clock.now();
  due.graphs = loader_.graphs()->names();
  due.limit = limits::page_rows_max;
  if (due.graphs.empty()) co_return count;
  while (true) {
    auto page = co_await find_due(due);
    if (!page.ok()) co_return std::move(page).error();
    if (page->empty()) co_return count;
    due.before = page->back().interrupt;
    std::vector<std::vector<ApprovalRow>> groups = by_run(*std::move(page));
    for (std::vector<ApprovalRow>& together : groups) {
      RunId run = together.front().run;
      auto expired = co_await expire_together(std::move(together));
      // The concurrency limit of the run is reached: its approval remains open for a later round.
      if (!expired.ok() && RunLimits::is_limit(expired.error())) continue;
      if (!expired.ok()) {
        // A damaged run is quarantined and must not block the others.
        auto aside = co_await executor_.quarantine_or_skip(tenant, run, std::move(expired).error());
        if (!aside.ok()) co_return std::move(aside).error();
        continue;
      }
      count += *expired;
    }
  }
}

Task<Result<bool>> DueRuns::wake_run(TenantId tenant, RunId run) {
  auto found = co_await loader_.load_run(std::move(tenant), run);
  if (!found.ok()) co_return std::move(found).error();
  if (found->stored.row.status != RunStatus::paused) co_return false;
  engine::Event resumed = engine::Resumed{executor_.moment(), executor_.session()};
  auto view = co_await executor_.commit_and_drive(*std::move(found), std::move(resumed), false);
  if (!view.ok()) co_return std::move(view).error();
  co_return view->has_value();
}

// Continues paused runs whose timer is due. Each run is tried once per call: one that cannot
// continue now remains due, and must not block the others.
Task<Result<std::size_t>> DueRuns::wake_due(TenantId tenant) {
  std::size_t count = 0;
  RunFilter due;
  due.tenant = tenant;
  due.statuses = {RunStatus::paused};
  due.due_by = parts_.clock.now();
  due.graphs = loader_.graphs()->names();
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
      if (!woken.ok() && RunLimits::is_limit(woken.error())) continue;
      if (!woken.ok()) {
        auto aside =
            co_await executor_.quarantine_or_skip(tenant, row.run, std::move(woken).error());
        if (!aside.ok()) co_return std::move(aside).error();
      } else if (*woken) {
        ++count;
      }
    }
  }
}

}  // namespace belay
