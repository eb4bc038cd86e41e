#include "check/read_store.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

#include "belay/limits.h"
#include "engine/next_task.h"
#include "graph/structure.h"
#include "load/run_values.h"

namespace belay::check {
namespace {

// Requests all threads and runs in one read, because a list cannot be continued.
constexpr std::size_t kAll = std::numeric_limits<std::int64_t>::max();

Result<Done> list_runs(Snapshot& view, const TenantId& tenant, std::vector<RunStatus> statuses,
                       std::vector<ListedRun>& runs) {
  RunFilter filter;
  filter.tenant = tenant;
  filter.statuses = std::move(statuses);
  filter.limit = kAll;
  BELAY_TRY(auto rows, view.runs(filter));
  for (RunRow& row : rows) {
    ListedRun listed;
    listed.run = row.run;
    listed.thread = std::move(row.thread);
    listed.graph = std::move(row.graph);
    listed.user = std::move(row.user);
    listed.queue = std::move(row.queue);
    listed.concurrency_key = std::move(row.concurrency_key);
    listed.status = row.status;
    listed.ordinal = row.ordinal;
    listed.has_started = has_started(row);
    listed.created_at = row.created_at;
    runs.push_back(std::move(listed));
  }
  return Done{};
}

Result<Done> read_checkpoints(Snapshot& view, const TenantId& tenant, const RunId& run,
                              SpaceContents& checkpoint_ns) {
  CheckpointFilter filter;
  filter.tenant = tenant;
  filter.run = run;
  filter.checkpoint_ns = checkpoint_ns.checkpoint_ns;
  filter.limit = limits::page_rows_max;
  while (true) {
    BELAY_TRY(auto rows, view.checkpoints(filter));
    bool is_last = rows.size() < filter.limit;
    if (!rows.empty()) filter.before_seq = rows.back().seq;
    std::move(rows.begin(), rows.end(), std::back_inserter(checkpoint_ns.checkpoints));
    if (is_last) break;
  }
  std::reverse(checkpoint_ns.checkpoints.begin(), checkpoint_ns.checkpoints.end());
  return Done{};
}

Result<Done> read_events(Snapshot& view, const TenantId& tenant, RunContents& run) {
  EventFilter filter;
  filter.tenant = tenant;
  filter.run = run.row.run;
  filter.limit = limits::page_rows_max;
  while (true) {
    BELAY_TRY(auto rows, view.events(filter));
    bool is_last = rows.size() < filter.limit;
    if (!rows.empty()) {
      filter.after_seq = rows.back().seq;
      filter.after_index = rows.back().index;
    }
    std::move(rows.begin(), rows.end(), std::back_inserter(run.events));
    if (is_last) return Done{};
  }
}

Result<Done> read_tasks(Snapshot& view, const TenantId& tenant, const RunId& run,
                        SpaceContents& checkpoint_ns) {
  TaskFilter filter;
  filter.tenant = tenant;
  filter.run = run;
  filter.checkpoint_ns = checkpoint_ns.checkpoint_ns;
  BELAY_TRY(checkpoint_ns.tasks, view.tasks(filter));
  return Done{};
}

// Returns the graph version of a commit with these tasks.
std::shared_ptr<const GraphDefinition> graph_at(const RunContents& run,
                                                const SpaceContents& checkpoint_ns,
                                                const engine::NextTasks& next) {
  if (!next.version) return checkpoint_ns.graph;
  for (const auto& version : run.versions) {
    if (to_hex(version->hash) == *next.version) return version;
  }
  return nullptr;
}

Result<Done> read_inner(Snapshot& view, const TenantId& tenant, const SpaceContents& outer,
                        RunContents& run);

Result<Done> read_space(Snapshot& view, const TenantId& tenant, SpaceContents checkpoint_ns,
                        RunContents& run) {
  BELAY_CHECK(read_checkpoints(view, tenant, run.row.run, checkpoint_ns));
  BELAY_CHECK(read_tasks(view, tenant, run.row.run, checkpoint_ns));
  if (checkpoint_ns.checkpoints.empty() && checkpoint_ns.tasks.empty()) return Done{};
  std::string name = checkpoint_ns.checkpoint_ns;
  SpaceContents& added = run.inner.emplace(name, std::move(checkpoint_ns)).first->second;
  return read_inner(view, tenant, added, run);
}

// Reads the subgraph tasks among the tasks of `outer`.
Result<Done> read_inner(Snapshot& view, const TenantId& tenant, const SpaceContents& outer,
                        RunContents& run) {
  for (const CheckpointRow& checkpoint : outer.checkpoints) {
    auto next = engine::next_tasks_from(checkpoint.next_tasks);
    if (!next.ok() || next->as_of) continue;
    auto graph = graph_at(run, outer, *next);
    if (!graph) continue;
    for (std::size_t i = 0; i < next->nodes.size(); ++i) {
      const GraphDefinition::Node* node = graph->find(next->nodes[i]);
      if (!node || !node->subgraph) continue;
      TaskId task = engine::task_id(run.row.run, outer.checkpoint_ns, next->superstep, node->name,
                                    next->nodes.size() > 1 ? std::optional(i) : std::nullopt);
      SpaceContents inner;
      inner.checkpoint_ns = engine::inner_checkpoint_ns(outer.checkpoint_ns, node->name, task);
      inner.graph = node->subgraph->graph;
      if (run.inner.contains(inner.checkpoint_ns)) continue;
      BELAY_CHECK(read_space(view, tenant, std::move(inner), run));
    }
  }
  return Done{};
}

// Reads all versions of all channels, each into its namespace.
Result<Done> read_values(Snapshot& view, const TenantId& tenant, RunContents& run) {
  ValueFilter filter;
  filter.at_seq = kAll;
  filter.every_version = true;
  BELAY_TRY(run.values, values_before(view, run.row));
  BELAY_TRY(auto rows, run_values(view, run.row, std::move(filter)));
  for (ValueRow& row : rows) {
    if (row.checkpoint_ns.empty()) {
      run.values.push_back(std::move(row));
      continue;
    }
    if (!run.inner.contains(row.checkpoint_ns)) {
      // Without the graph, only these values show that the namespace exists.
      SpaceContents unknown;
      unknown.checkpoint_ns = row.checkpoint_ns;
      BELAY_CHECK(read_space(view, tenant, unknown, run));
      run.inner.try_emplace(row.checkpoint_ns, std::move(unknown));
    }
    run.inner[row.checkpoint_ns].values.push_back(std::move(row));
  }
  return Done{};
}

Result<Done> read_approvals(Snapshot& view, const TenantId& tenant, RunContents& run) {
  ApprovalFilter filter;
  filter.tenant = tenant;
  filter.run = run.row.run;
  filter.limit = kAll;
  BELAY_TRY(run.approvals, view.approvals(filter));
  std::reverse(run.approvals.begin(), run.approvals.end());
  return Done{};
}

Result<std::optional<CommitKind>> kind_of_commit(Snapshot& view, const TenantId& tenant,
                                                 const RunId& run, std::uint64_t seq) {
  CheckpointFilter filter;
  filter.tenant = tenant;
  filter.run = run;
  filter.seq = seq;
  filter.limit = 1;
  BELAY_TRY(auto rows, view.checkpoints(filter));
  std::optional<CommitKind> kind;
  if (!rows.empty()) kind = rows.front().kind;
  return kind;
}

// Whether the run has commits, but none with a seq as low as this.
Result<bool> was_pruned(Snapshot& view, const TenantId& tenant, const RunId& run,
                        std::uint64_t seq) {
  CheckpointFilter filter;
  filter.tenant = tenant;
  filter.run = run;
  filter.limit = 1;
  BELAY_TRY(auto newest, view.checkpoints(filter));
  if (newest.empty() || newest.front().seq < seq) return false;
  filter.before_seq = seq;
  BELAY_TRY(auto older, view.checkpoints(filter));
  return older.empty();
}

// Lists the rows that refer to a run that is not listed.
Result<Done> list_strays(Snapshot& view, const TenantId& tenant, StoreContents& store) {
  std::set<RunId> known;
  for (const ListedRun& run : store.runs) known.insert(run.run);
  auto look_at = [&](const RunId& run, std::string_view kind, std::string name) {
    if (known.contains(run)) return;
    store.strays.push_back({std::string(kind) + " " + std::move(name), run});
  };
  ApprovalFilter approvals;
  approvals.tenant = tenant;
  approvals.limit = kAll;
  BELAY_TRY(auto asked, view.approvals(approvals));
  for (const ApprovalRow& row : asked) look_at(row.run, "the approval", row.interrupt.text());
  EffectFilter effects;
  effects.tenant = tenant;
  effects.limit = kAll;
  BELAY_TRY(auto begun, view.effects(effects));
  for (const EffectRow& row : begun) look_at(row.run, "the effect", row.name);
  OutboxFilter outbox;
  outbox.tenant = tenant;
  outbox.limit = kAll;
  BELAY_TRY(auto messages, view.outbox(outbox));
  for (const OutboxRow& row : messages) look_at(row.run, "a message of the topic", row.topic);
  return Done{};
}

}  // namespace

Result<StoreContents> read_lists(Snapshot& view, const TenantId& tenant) {
  StoreContents store;
  ThreadFilter threads;
  threads.tenant = tenant;
  threads.limit = kAll;
  BELAY_TRY(store.threads, view.threads(threads));
  BELAY_CHECK(list_runs(view, tenant, {}, store.runs));
  for (RunStatus status :
       {RunStatus::queued, RunStatus::running, RunStatus::paused, RunStatus::completed,
        RunStatus::failed, RunStatus::cancelled, RunStatus::quarantined}) {
    BELAY_CHECK(list_runs(view, tenant, {status}, store.runs_by_status));
  }
  BELAY_CHECK(list_strays(view, tenant, store));
  return store;
}

namespace {

// Returns the run's row and the versions of its graph.
Result<std::optional<RunContents>> read_row(Snapshot& view, const CheckScope& scope,
                                            const RunId& run) {
  std::optional<RunContents> contents;
  RunFilter filter;
  filter.tenant = scope.tenant;
  filter.run = run;
  filter.limit = 1;
  BELAY_TRY(auto rows, view.runs(filter));
  if (rows.empty()) return contents;
  contents.emplace();
  contents->row = std::move(rows.front());
  for (const auto& registered : scope.graphs) {
    if (registered->name != contents->row.graph) continue;
    auto graph = without_material_rules(registered);
    contents->versions.push_back(graph);
    // A former program can have started the run, or have upgraded it to this version.
    if (graph->former_hash != graph->hash) contents->versions.push_back(former_edition(*graph));
  }
  for (const auto& version : contents->versions) {
    if (version->hash == contents->row.graph_hash) contents->graph = version;
  }
  return contents;
}

Result<Done> read_ancestors(Snapshot& view, const CheckScope& scope, RunContents& run) {
  std::set<RunId> seen{run.row.run};
  RunId next = run.row.forked_from;
  while (!next.is_null() && seen.insert(next).second) {
    BELAY_TRY(auto found, read_row(view, scope, next));
    if (!found) return Done{};
    BELAY_CHECK(read_checkpoints(view, scope.tenant, next, *found));
    BELAY_TRY(found->values, values_before(view, found->row));
    ValueFilter values;
    values.at_seq = kAll;
    values.every_version = true;
    values.checkpoint_ns = std::string();
    BELAY_TRY(auto own, run_values(view, found->row, std::move(values)));
    std::move(own.begin(), own.end(), std::back_inserter(found->values));
    BELAY_CHECK(read_approvals(view, scope.tenant, *found));
    next = found->row.forked_from;
    run.ancestors.push_back(*std::move(found));
  }
  return Done{};
}

}  // namespace

Result<std::optional<RunContents>> read_run(Snapshot& view, const CheckScope& scope,
                                            const RunId& run) {
  const TenantId& tenant = scope.tenant;
  BELAY_TRY(std::optional<RunContents> contents, read_row(view, scope, run));
  if (!contents) return contents;
  BELAY_CHECK(read_ancestors(view, scope, *contents));
  BELAY_CHECK(read_checkpoints(view, tenant, run, *contents));
  BELAY_CHECK(read_tasks(view, tenant, run, *contents));
  BELAY_CHECK(read_inner(view, tenant, *contents, *contents));
  BELAY_CHECK(read_values(view, tenant, *contents));
  BELAY_CHECK(read_events(view, tenant, *contents));
  BELAY_CHECK(read_approvals(view, tenant, *contents));
  EffectFilter effects;
  effects.tenant = tenant;
  effects.run = run;
  effects.limit = kAll;
  BELAY_TRY(contents->effects, view.effects(effects));
  OutboxFilter outbox;
  outbox.tenant = tenant;
  outbox.run = run;
  outbox.limit = kAll;
  BELAY_TRY(contents->outbox, view.outbox(outbox));
  return contents;
}

Result<std::size_t> read_records(Snapshot& view, const TenantId& tenant,
                                 const std::string& collection, std::vector<SavedRecord>& records) {
  RecordQuery query;
  query.tenant = tenant;
  query.collection = collection;
  query.of_every_user = true;
  query.limit = limits::page_rows_max;
  std::size_t count = 0;
  while (true) {
    BELAY_TRY(auto rows, view.records(query));
    for (StoredRecord& row : rows) {
      ++count;
      query.user = row.user;
      query.after = row.key;
      if (row.run.is_null()) continue;
      SavedRecord saved{std::move(row.collection), std::move(row.key), row.run, row.seq, {}, false};
      BELAY_TRY(saved.commit, kind_of_commit(view, tenant, saved.run, saved.seq));
      if (!saved.commit) {
        BELAY_TRY(saved.is_pruned, was_pruned(view, tenant, saved.run, saved.seq));
      }
      records.push_back(std::move(saved));
    }
    if (rows.size() < query.limit) return count;
  }
}

}  // namespace belay::check
