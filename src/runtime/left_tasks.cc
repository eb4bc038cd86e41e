#include "runtime/left_tasks.h"

#include <algorithm>
#include <set>

#include "engine/decision.h"
#include "engine/next_task.h"
#include "graph/call_record.h"
#include "load/all_rows.h"

namespace belay {
namespace {

bool waits_for_person_alone(const RunRow& run) {
  if (run.status != RunStatus::paused) return false;
  auto reason = pause_reason(run);
  return reason == PauseReason::approval || reason == PauseReason::breakpoint;
}

// The run as of the newest commit after which it had tasks; nullopt if it has left none.
Result<std::optional<engine::StoredRun>> with_tasks(Snapshot& view, const GraphRegistry& graphs,
                                                    const engine::StoredRun& now) {
  if (!is_final(now.row.status)) return std::optional(now);
  bool may_have_left = now.row.status != RunStatus::completed && now.row.seq > 1;
  if (!may_have_left) return std::optional<engine::StoredRun>();
  auto earlier = stored_run(view, graphs, now.row, now.row.seq - 1);
  bool is_pruned = !earlier.ok() && earlier.error().code == ErrorCode::not_found;
  if (is_pruned) return std::optional<engine::StoredRun>();
  if (!earlier.ok()) return std::move(earlier).error();
  // Supersteps without commits (Durability::exit) lie between: their state is of later tasks.
  if (earlier->checkpoint.superstep != now.checkpoint.superstep) {
    return std::optional<engine::StoredRun>();
  }
  return std::optional(*std::move(earlier));
}

// The time of the commit that scheduled the superstep in progress.
Result<Instant> superstep_begun(Snapshot& view, const engine::StoredRun& stored) {
  Instant begun = stored.checkpoint.created_at;
  CheckpointFilter filter;
  filter.tenant = stored.row.tenant;
  filter.run = stored.row.run;
  filter.before_seq = stored.checkpoint.seq;
  filter.limit = limits::page_rows_max;
  while (true) {
    BELAY_TRY(auto page, view.checkpoints(filter));
    for (const CheckpointRow& row : page) {
      if (row.superstep != stored.checkpoint.superstep) return begun;
      begun = row.created_at;
    }
    if (page.size() < filter.limit) return begun;
    filter.before_seq = page.back().seq;
  }
}

void add_node_names(const GraphDefinition& graph, std::set<std::string>& names) {
  for (const GraphDefinition::Node& node : graph.nodes) {
    names.insert(node.name);
    if (node.subgraph) add_node_names(*node.subgraph->graph, names);
  }
}

// The names of the nodes inside of the subgraphs among `nodes`; nullopt if the program does not
// have the version of the graph.
Result<std::optional<std::set<std::string>>> inner_nodes(const GraphRegistry& graphs,
                                                         const engine::StoredRun& stored,
                                                         const std::vector<std::string>& nodes) {
  BELAY_TRY(Digest version, engine::version_of(stored));
  auto graph = graphs.for_version(stored.row.graph, version);
  if (!graph.ok()) return std::optional<std::set<std::string>>();
  std::set<std::string> names;
  for (const std::string& name : nodes) {
    const GraphDefinition::Node* node = (*graph)->find(name);
    if (node && node->subgraph) add_node_names(*node->subgraph->graph, names);
  }
  return std::optional(std::move(names));
}

// Returns whether one of the tasks, or a task inside of one of them, has started an effect. Those
// inside have other ids: they are found by their time and their nodes.
Result<bool> has_effects(Snapshot& view, const engine::StoredRun& stored,
                         const std::set<TaskId>& tasks,
                         const std::optional<std::set<std::string>>& inner) {
  BELAY_TRY(Instant begun, superstep_begun(view, stored));
  bool found = false;
  EffectFilter filter;
  filter.tenant = stored.row.tenant;
  filter.run = stored.row.run;
  BELAY_CHECK(for_each_effect(view, std::move(filter), [&](const EffectRow& effect) {
    if (is_call_record(effect.name)) return;
    bool may_be_inside = !inner || inner->contains(effect.node);
    bool is_inside = may_be_inside && effect.created_at >= begun;
    found = found || is_inside || tasks.contains(effect.task);
  }));
  return found;
}

Result<LeftTasks> left_tasks(Snapshot& view, const GraphRegistry& graphs,
                             const engine::StoredRun& stored) {
  LeftTasks left;
  BELAY_TRY(engine::NextTasks next, engine::next_tasks_from(engine::tasks_text_of(stored)));
  left.have_joined = !next.joins.empty();
  std::set<TaskId> ids;
  bool several = next.tasks.size() > 1;
  for (std::size_t i = 0; i < next.tasks.size(); ++i) {
    const auto& input = next.tasks[i].input;
    left.nodes.push_back({next.nodes[i], input ? *input : std::string()});
    ids.insert(engine::task_id(stored.row.run, {}, next.superstep, next.nodes[i],
                               several ? std::optional(i) : std::nullopt));
  }
  if (left.nodes.empty()) return left;
  left.have_worked =
      several && std::any_of(stored.tasks.begin(), stored.tasks.end(), [&](const TaskRow& row) {
        return row.checkpoint_ns.empty() && row.superstep == next.superstep &&
               row.status == TaskStatus::done;
      });
  BELAY_TRY(auto inner, inner_nodes(graphs, stored, next.nodes));
  BELAY_TRY(bool has_begun, has_effects(view, stored, ids, inner));
  left.have_worked = left.have_worked || has_begun;
  return left;
}

Result<bool> has_decision(Snapshot& view, const RunRow& run) {
  bool found = false;
  ApprovalFilter filter;
  filter.tenant = run.tenant;
  filter.run = run.run;
  BELAY_CHECK(for_each_approval(view, std::move(filter), [&](const ApprovalRow& row) {
    found = found || (engine::is_decided(row.status) && !engine::is_about_effect(row));
  }));
  return found;
}

}  // namespace

Result<std::optional<EditPlace>> edit_place(Snapshot& view, const GraphRegistry& graphs,
                                            const TenantId& tenant, const ThreadId& thread) {
  BELAY_TRY(auto found, thread_place(view, graphs, tenant, thread));
  if (!found) return std::optional<EditPlace>();
  EditPlace place;
  place.thread = *std::move(found);
  if (const auto& unfinished = place.thread.unfinished) {
    if (!waits_for_person_alone(*unfinished) || unfinished->run != place.thread.newest.run) {
      return error(ErrorCode::conflict,
                   "Thread \"" + thread.text + "\" is busy: its run " + unfinished->run.text() +
                       " is " + std::string(name_of(unfinished->status)) +
                       ". Wait for its end, or cancel it, before you change the state.");
    }
    BELAY_TRY(place.before, left_by(view, graphs, *unfinished));
  } else if (place.thread.before) {
    place.before = *place.thread.before;
  } else {
    return error(ErrorCode::invalid, "Thread \"" + thread.text +
                                         "\" has no state to change: all of its runs were "
                                         "cancelled before they began. Use another thread.");
  }
  BELAY_TRY(auto stored, with_tasks(view, graphs, place.before.stored));
  if (stored) {
    BELAY_TRY(place.left, left_tasks(view, graphs, *stored));
  }
  BELAY_TRY(place.left.follow_decision, has_decision(view, place.before.stored.row));
  return std::optional(std::move(place));
}

}  // namespace belay
