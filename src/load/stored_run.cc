#include "load/stored_run.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "belay/limits.h"
#include "engine/decision.h"
#include "engine/next_task.h"
#include "engine/run_options.h"
#include "graph/call_record.h"
#include "graph/ledger.h"
#include "load/all_rows.h"
#include "load/run_values.h"

namespace belay {
namespace {

// Up to this number, approvals are read one by one; above it, all approvals of the run are read.
constexpr std::size_t approvals_asked_one_by_one = limits::bounded(16, 2);

// Returns the newest run that has started, from `newest` back; nullopt if the thread has none left.
Result<std::optional<RunRow>> newest_begun(Snapshot& view, RunRow newest) {
  RunFilter filter;
  filter.tenant = newest.tenant;
  filter.thread = newest.thread;
  while (!has_started(newest)) {
    filter.before = newest.run;
    filter.limit = 1;
    BELAY_TRY(auto rows, view.runs(filter));
    if (rows.empty()) return std::optional<RunRow>();
    newest = std::move(rows.front());
  }
  return std::optional(std::move(newest));
}

}  // namespace

Result<RunRow> current_run(Snapshot& view, const TenantId& tenant, const ThreadId& thread) {
  RunFilter filter;
  filter.tenant = tenant;
  filter.thread = thread;
  filter.limit = 1;
  BELAY_TRY(auto newest, view.runs(filter));
  if (newest.empty()) {
    return error(ErrorCode::not_found,
                 "Execution thread not found or expired: \"" + thread.text + "\".");
  }
  if (newest.front().ordinal == 0) return std::move(newest.front());
  filter.only_current = true;
  BELAY_TRY(auto unfinished, view.runs(filter));
  if (!unfinished.empty()) return std::move(unfinished.front());
  BELAY_TRY(auto begun, newest_begun(view, newest.front()));
  return begun ? *std::move(begun) : std::move(newest.front());
}

Result<RunRow> run_of(Snapshot& view, const TenantId& tenant, const ThreadId& thread,
                      const std::optional<RunId>& run) {
  if (!run) return current_run(view, tenant, thread);
  BELAY_TRY(RunRow row, run_row(view, tenant, *run));
  if (row.thread == thread) return row;
  return error(ErrorCode::not_found,
               "Unknown run " + run->text() + " of thread \"" + thread.text + "\".");
}

Result<RunRow> run_row(Snapshot& view, const TenantId& tenant, const RunId& run) {
  RunFilter filter;
  filter.tenant = tenant;
  filter.run = run;
  filter.limit = 1;
  BELAY_TRY(auto rows, view.runs(filter));
  if (!rows.empty()) return std::move(rows.front());
  return error(ErrorCode::not_found, "Unknown run " + run.text() + ".");
}

Result<std::optional<CheckpointRow>> newest_checkpoint(Snapshot& view, const TenantId& tenant,
                                                       const RunId& run) {
  CheckpointFilter filter;
  filter.tenant = tenant;
  filter.run = run;
  filter.limit = 1;
  BELAY_TRY(auto rows, view.checkpoints(filter));
  if (rows.empty()) return std::optional<CheckpointRow>();
  return std::optional(std::move(rows.front()));
}

namespace {

// Reads the checkpoint `seq` of a namespace, or the newest one, and the chain hash of the previous
// one. Returns false if the checkpoint does not exist.
Result<bool> read_checkpoint(Snapshot& view, const RunRow& row, const std::string& checkpoint_ns,
                             std::optional<std::uint64_t> seq, engine::StoredSpace& stored) {
  CheckpointFilter filter;
  filter.tenant = row.tenant;
  filter.run = row.run;
  filter.checkpoint_ns = checkpoint_ns;
  if (seq) filter.before_seq = *seq + 1;
  filter.limit = 2;
  BELAY_TRY(auto checkpoints, view.checkpoints(filter));
  if (checkpoints.empty() || (seq && checkpoints.front().seq != *seq)) return false;
  if (checkpoints.size() > 1) stored.parent_chain_hash = checkpoints[1].chain_hash;
  stored.checkpoint = std::move(checkpoints.front());
  return true;
}

Result<Done> read_values(Snapshot& view, const RunRow& row, engine::StoredSpace& stored) {
  ValueFilter values;
  values.checkpoint_ns = stored.checkpoint.checkpoint_ns;
  values.at_seq = stored.checkpoint.state_seq;
  BELAY_TRY(stored.values, run_values(view, row, std::move(values)));
  return Done{};
}

Result<Done> read_first(Snapshot& view, engine::StoredRun& stored) {
  if (stored.checkpoint.parent.is_null()) return Done{};
  CheckpointFilter filter;
  filter.tenant = stored.row.tenant;
  filter.run = stored.row.run;
  filter.seq = 1;
  BELAY_TRY(auto found, view.checkpoints(filter));
  if (!found.empty()) stored.first = std::move(found.front());
  return Done{};
}

// Reads the stored tasks and pending writes of the superstep in progress, and the subgraphs in it.
Result<Done> read_tasks(Snapshot& view, const RunRow& row, const GraphDefinition* graph,
                        bool with_inner, engine::StoredSpace& stored) {
  BELAY_TRY(engine::NextTasks next, engine::next_tasks_from(stored.checkpoint.next_tasks));
  if (next.as_of) {
    CheckpointFilter filter;
    filter.tenant = row.tenant;
    filter.run = row.run;
    filter.checkpoint_ns = stored.checkpoint.checkpoint_ns;
    filter.seq = next.as_of;
    BELAY_TRY(auto chosen, view.checkpoints(filter));
    if (chosen.empty()) {
      return error(ErrorCode::corrupt, "Thread \"" + row.thread.text + "\" lacks its commit " +
                                           std::to_string(*next.as_of) +
                                           ". Run `belay check` and restore a backup.");
    }
    stored.tasks_text = std::move(chosen.front().next_tasks);
    BELAY_TRY(next, engine::next_tasks_from(stored.tasks_text));
  }
  auto subgraph_of = [&](const std::string& name) -> const GraphDefinition* {
    const GraphDefinition::Node* node = graph ? graph->find(name) : nullptr;
    return node && node->subgraph ? node->subgraph->graph.get() : nullptr;
  };
  bool several = next.tasks.size() > 1;
  bool has_inner = std::any_of(next.nodes.begin(), next.nodes.end(),
                               [&](const std::string& name) { return subgraph_of(name); });
  // A single task of an unknown graph might be a subgraph, whose row contains its effects.
  bool has_rows = several || has_inner || !graph;
  if (!has_rows) return Done{};
  TaskFilter tasks;
  tasks.tenant = row.tenant;
  tasks.run = row.run;
  tasks.checkpoint_ns = stored.checkpoint.checkpoint_ns;
  tasks.superstep = next.superstep;
  BELAY_TRY(stored.tasks, view.tasks(tasks));
  ValueFilter pending;
  pending.checkpoint_ns = stored.checkpoint.checkpoint_ns;
  pending.every_version = true;
  pending.after_seq = stored.checkpoint.state_seq;
  pending.at_seq = std::numeric_limits<std::int64_t>::max();
  BELAY_TRY(stored.pending, run_values(view, row, std::move(pending)));
  if (!has_inner || !with_inner) return Done{};
  for (std::size_t i = 0; i < next.tasks.size(); ++i) {
    const GraphDefinition* inner_graph = subgraph_of(next.nodes[i]);
    if (!inner_graph) continue;
    const std::string& outer = stored.checkpoint.checkpoint_ns;
    TaskId task = engine::task_id(row.run, outer, next.superstep, next.nodes[i],
                                  several ? std::optional(i) : std::nullopt);
    std::string checkpoint_ns = engine::inner_checkpoint_ns(outer, next.nodes[i], task);
    engine::StoredSpace inner;
    BELAY_TRY(bool began, read_checkpoint(view, row, checkpoint_ns, std::nullopt, inner));
    if (!began) continue;
    BELAY_CHECK(read_values(view, row, inner));
    BELAY_CHECK(read_tasks(view, row, inner_graph, true, inner));
    stored.inner.emplace(std::move(checkpoint_ns), std::move(inner));
  }
  return Done{};
}

// Sets the row back to its contents after an older commit.
void set_back(RunRow& row, const CheckpointRow& checkpoint) {
  row.seq = checkpoint.seq;
  row.epoch = checkpoint.epoch;
  row.status = checkpoint.status;
  row.session = checkpoint.session;
  row.checkpoint = checkpoint.id;
  row.node = checkpoint.node;
  row.retry_count = checkpoint.retry_count;
  row.updated_at = checkpoint.created_at;
  row.reason.clear();
  row.outcome.clear();
  row.error_code.clear();
  row.error.clear();
  row.due_at = Instant();
}

}  // namespace

Result<engine::StoredRun> stored_run(Snapshot& view, const GraphRegistry& graphs, RunRow row,
                                     std::optional<std::uint64_t> seq) {
  engine::StoredRun stored;
  std::uint64_t wanted = seq.value_or(row.seq);
  BELAY_TRY(bool found, read_checkpoint(view, row, {}, wanted, stored));
  if (!found) {
    return error(
        seq ? ErrorCode::not_found : ErrorCode::corrupt,
        "Thread \"" + row.thread.text + "\" has no commit " + std::to_string(wanted) + ".");
  }
  bool is_now = wanted == row.seq;
  if (!is_now) set_back(row, stored.checkpoint);
  stored.row = std::move(row);
  BELAY_CHECK(read_first(view, stored));
  if (engine::has_started(stored)) BELAY_CHECK(read_values(view, stored.row, stored));
  BELAY_TRY(Digest version, engine::version_of(stored));
  auto graph = graphs.for_version(stored.row.graph, version);
  BELAY_CHECK(read_tasks(view, stored.row, graph.ok() ? graph->get() : nullptr, is_now, stored));
  return stored;
}

Result<std::optional<engine::RunBefore>> run_before(Snapshot& view, const GraphRegistry& graphs,
                                                    const RunRow& run) {
  RunFilter filter;
  filter.tenant = run.tenant;
  filter.thread = run.thread;
  filter.before = run.run;
  filter.limit = 1;
  BELAY_TRY(auto rows, view.runs(filter));
  if (rows.empty()) return std::optional<engine::RunBefore>();
  BELAY_TRY(auto begun, newest_begun(view, std::move(rows.front())));
  if (!begun) return std::optional<engine::RunBefore>();
  BELAY_TRY(engine::RunBefore before, left_by(view, graphs, *std::move(begun)));
  return std::optional(std::move(before));
}

Result<engine::RunBefore> left_by(Snapshot& view, const GraphRegistry& graphs, RunRow run) {
  engine::RunBefore before;
  BELAY_TRY(before.stored, stored_run(view, graphs, std::move(run)));
  const engine::StoredRun& stored = before.stored;
  bool may_have_dropped = stored.checkpoint.state_seq < stored.checkpoint.seq;
  if (!may_have_dropped || stored.row.ordinal == 0) return before;
  ValueFilter dropped;
  dropped.checkpoint_ns = std::string();
  dropped.every_version = true;
  dropped.after_seq = stored.checkpoint.state_seq;
  dropped.at_seq = std::numeric_limits<std::uint32_t>::max();
  BELAY_TRY(auto rows, run_values(view, stored.row, std::move(dropped)));
  for (ValueRow& row : rows) {
    auto known =
        std::find(before.dropped_channels.begin(), before.dropped_channels.end(), row.channel);
    if (known == before.dropped_channels.end()) {
      before.dropped_channels.push_back(std::move(row.channel));
    }
  }
  return before;
}

Result<Done> check_readable(Snapshot& view, const GraphRegistry& graphs, const TenantId& tenant,
                            const RunId& run) {
  BELAY_TRY(RunRow row, run_row(view, tenant, run));
  ApprovalFilter filter;
  filter.tenant = tenant;
  filter.run = run;
  Result<Done> shown = Done{};
  BELAY_CHECK(for_each_approval(view, std::move(filter), [&shown](const ApprovalRow& approval) {
    if (shown.ok()) shown = engine::check_shown(approval);
  }));
  BELAY_CHECK(std::move(shown));
  BELAY_TRY(engine::StoredRun stored, stored_run(view, graphs, std::move(row)));
  BELAY_TRY(Digest version, engine::version_of(stored));
  BELAY_TRY(auto graph, graphs.for_version(stored.row.graph, version));
  BELAY_CHECK(engine::restore(*graph, std::move(stored)));
  return Done{};
}

Result<std::vector<EffectRow>> uncertain_effects(Snapshot& view, const RunRow& run) {
  if (!is_final(run.status)) return std::vector<EffectRow>();
  EffectFilter filter;
  filter.tenant = run.tenant;
  filter.run = run.run;
  filter.statuses = {EffectStatus::uncertain};
  filter.limit = limits::list_rows_max;
  BELAY_TRY(auto rows, view.effects(filter));
  std::erase_if(rows, [](const EffectRow& row) { return is_call_record(row.name); });
  return rows;
}

Result<OpenApprovals> open_approvals(Snapshot& view, const RunRow& run) {
  OpenApprovals open;
  if (run.status != RunStatus::paused) return open;
  ApprovalFilter filter;
  filter.tenant = run.tenant;
  filter.run = run.run;
  filter.only_open = true;
  BELAY_CHECK(for_each_approval(view, std::move(filter), [&](ApprovalRow row) {
    open.last_expiry = std::max(open.last_expiry, row.expires_at);
    if (open.rows.size() < limits::list_rows_max) open.rows.push_back(std::move(row));
  }));
  std::reverse(open.rows.begin(), open.rows.end());
  return open;
}

Result<std::vector<ApprovalRow>> decided_of(Snapshot& view, const TenantId& tenant,
                                            const RunId& run, std::vector<InterruptId> asked) {
  std::sort(asked.begin(), asked.end());
  std::vector<ApprovalRow> decided;
  auto keep = [&](ApprovalRow row) {
    bool is_asked = std::binary_search(asked.begin(), asked.end(), row.interrupt);
    if (is_asked && engine::is_decided(row.status)) decided.push_back(std::move(row));
  };
  ApprovalFilter filter;
  filter.tenant = tenant;
  filter.run = run;
  bool one_by_one = asked.size() <= approvals_asked_one_by_one;
  if (!one_by_one) BELAY_CHECK(for_each_approval(view, filter, keep));
  for (const InterruptId& interrupt : one_by_one ? asked : std::vector<InterruptId>()) {
    filter.interrupt = interrupt;
    BELAY_CHECK(for_each_approval(view, filter, keep));
  }
  return decided;
}

Result<ApprovalRow> approval_row(Snapshot& view, const TenantId& tenant,
                                 const InterruptId& interrupt,
                                 const std::optional<UserId>& only_of) {
  ApprovalFilter filter;
  filter.tenant = tenant;
  filter.interrupt = interrupt;
  filter.user = only_of;
  filter.limit = 1;
  BELAY_TRY(auto rows, view.approvals(filter));
  if (!rows.empty()) return std::move(rows.front());
  return error(ErrorCode::not_found, "Unknown approval " + interrupt.text() +
                                         ". List approvals with `belay approvals list --all`.");
}

Result<std::optional<Spending>> spending_of_run(Snapshot& view, const RunRow& run) {
  BELAY_TRY(RunOptions options, engine::options_from(run.options));
  if (!options.budget.is_set()) return std::optional<Spending>();
  EffectFilter filter;
  filter.tenant = run.tenant;
  filter.run = run.run;
  Ledger ledger(options.budget);
  auto remember = [&](const EffectRow& row) { ledger.remember(spending_of(row)); };
  BELAY_CHECK(for_each_effect(view, std::move(filter), remember));
  return std::optional(ledger.spending());
}

Result<std::vector<RunRow>> running_runs(Snapshot& view, const TenantId& tenant,
                                         const std::optional<UserId>& user) {
  RunFilter filter;
  filter.tenant = tenant;
  filter.user = user;
  filter.statuses = {RunStatus::running};
  filter.limit = limits::page_rows_max;
  filter.without_input = true;
  std::vector<RunRow> all;
  while (true) {
    BELAY_TRY(std::vector<RunRow> page, view.runs(filter));
    bool is_last = page.size() < filter.limit;
    std::move(page.begin(), page.end(), std::back_inserter(all));
    if (is_last) return all;
    filter.before = all.back().run;
  }
}

}  // namespace belay
