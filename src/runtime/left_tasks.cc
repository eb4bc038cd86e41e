#include "runtime/left_tasks.h"

#include <algorithm>
#include <set>

#include "engine/decision.h"
#include "engine/next_task.h"
#include "engine/run_options.h"
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
    left.nodes.push_back({next.nodes[i], input ? *input : std::string(),
                          engine::decisions_text(next.tasks[i].decisions)});
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

Result<bool> has_decision(Snapshot& view, const RunRow& run, Instant until) {
  bool found = false;
  ApprovalFilter filter;
  filter.tenant = run.tenant;
  filter.run = run.run;
  BELAY_CHECK(for_each_approval(view, std::move(filter), [&](const ApprovalRow& row) {
    bool counts = engine::is_decided(row.status) && !engine::is_about_effect(row);
    found = found || (counts && row.decided_at <= until);
  }));
  return found;
}

// Returns whether a decision precedes the commit: of its run, or of one whose nodes that run has
// continued. One that is no longer stored counts.
Result<bool> follows_decision(Snapshot& view, const engine::StoredRun& stored) {
  RunRow run = stored.row;
  Instant until = stored.checkpoint.created_at;
  for (std::size_t passed = 0; passed < limits::list_rows_max; ++passed) {
    BELAY_TRY(bool is_here, has_decision(view, run, until));
    if (is_here) return true;
    BELAY_TRY(RunOptions options, engine::options_from(run.options));
    const auto& beginning = options.beginning;
    if (!beginning || !beginning->from || !beginning->as_node.empty()) return false;
    auto origin = uuid_from(beginning->from->run);
    if (!origin) return true;
    until = run.created_at;
    auto earlier = run_row(view, run.tenant, RunId(*origin));
    bool is_pruned = !earlier.ok() && earlier.error().code == ErrorCode::not_found;
    if (is_pruned) return true;
    if (!earlier.ok()) return std::move(earlier).error();
    run = *std::move(earlier);
  }
  return true;
}

Error no_commit(const ThreadId& thread, const RunCommit& from) {
  return error(ErrorCode::not_found, "Thread \"" + thread.text + "\" has no commit " +
                                         std::to_string(from.seq) + " of a run " +
                                         from.run.substr(0, 100) + ".");
}

// Sets the state of the commit, and its nodes. Those that have completed since start again.
Result<Done> place_at(Snapshot& view, const GraphRegistry& graphs, const RunCommit& from,
                      EditPlace& place) {
  const ThreadId thread = place.thread.newest.thread;
  auto id = uuid_from(from.run);
  if (!id || from.seq < 1) return no_commit(thread, from);
  auto row = run_row(view, place.thread.newest.tenant, RunId(*id));
  bool is_absent = !row.ok() && row.error().code == ErrorCode::not_found;
  if (is_absent || (row.ok() && row->thread != thread)) return no_commit(thread, from);
  if (!row.ok()) return std::move(row).error();
  auto stored = stored_run(view, graphs, *std::move(row), static_cast<std::uint64_t>(from.seq));
  is_absent = !stored.ok() && stored.error().code == ErrorCode::not_found;
  if (is_absent || (stored.ok() && !engine::has_started(*stored))) return no_commit(thread, from);
  if (!stored.ok()) return std::move(stored).error();
  place.before.stored = *std::move(stored);
  place.before.is_older = true;
  BELAY_TRY(auto with, with_tasks(view, graphs, place.before.stored));
  if (with) {
    BELAY_TRY(place.left, left_tasks(view, graphs, *with));
    place.left.have_worked = false;
  }
  BELAY_TRY(place.left.follow_decision, follows_decision(view, place.before.stored));
  return Done{};
}

// Sets the state and the nodes that the current run has left.
Result<Done> place_at_newest(Snapshot& view, const GraphRegistry& graphs, EditPlace& place) {
  if (const auto& unfinished = place.thread.unfinished) {
    BELAY_TRY(place.before, left_by(view, graphs, *unfinished));
  } else if (place.thread.before) {
    place.before = *place.thread.before;
  } else {
    return error(ErrorCode::invalid, "Thread \"" + place.thread.newest.thread.text +
                                         "\" has no state to change: all of its runs were "
                                         "cancelled before they began. Use another thread.");
  }
  BELAY_TRY(auto stored, with_tasks(view, graphs, place.before.stored));
  if (stored) {
    BELAY_TRY(place.left, left_tasks(view, graphs, *stored));
  }
  BELAY_TRY(place.left.follow_decision, follows_decision(view, place.before.stored));
  return Done{};
}

}  // namespace

Result<std::optional<EditPlace>> edit_place(Snapshot& view, const GraphRegistry& graphs,
                                            const TenantId& tenant, const ThreadId& thread,
                                            const std::optional<RunCommit>& from) {
  BELAY_TRY(auto found, thread_place(view, graphs, tenant, thread));
  if (!found) return std::optional<EditPlace>();
  EditPlace place;
  place.thread = *std::move(found);
  const auto& unfinished = place.thread.unfinished;
  if (unfinished &&
      (!waits_for_person_alone(*unfinished) || unfinished->run != place.thread.newest.run)) {
    place.busy = error(ErrorCode::conflict,
                       "Thread \"" + thread.text + "\" is busy: its run " + unfinished->run.text() +
                           " is " + std::string(name_of(unfinished->status)) +
                           ". Wait for its end, or cancel it, before you change the state.");
    if (!from) return *std::move(place.busy);
  }
  if (from) {
    BELAY_CHECK(place_at(view, graphs, *from, place));
  } else {
    BELAY_CHECK(place_at_newest(view, graphs, place));
  }
  return std::optional(std::move(place));
}

}  // namespace belay
