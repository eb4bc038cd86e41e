#include "engine/route.h"

#include <algorithm>

#include "belay/limits.h"
#include "engine/next_task.h"
#include "graph/call_guarded.h"

namespace belay::engine {
namespace {

bool must_ask(const GraphDefinition::Approval& approval, const RunOptions& options,
              const void* state) {
  // Without a target for approvals, only a decider can choose the next node.
  if (approval.approved.empty()) return true;
  return options.require_approval && (!approval.when || approval.when(state));
}

Error not_declared(const NodeTask& task, std::string_view what, const std::string& name) {
  return error(ErrorCode::invalid, std::string(what) + " \"" + task.node->name + "\" selected \"" +
                                       name + "\", which is not among its targets.");
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Result<GraphDefinition::Choice> choice_of(const GraphDefinition::Node& node, const void* state) {
  return call_guarded<GraphDefinition::Choice>("The branch at \"" + node.name + "\"", [&]() {
    return Result<GraphDefinition::Choice>(node.choose(state));
  });
}

Result<Ways> ways_of_choice(const NodeTask& task, GraphDefinition::Choice choice) {
  const GraphDefinition::Node& node = *task.node;
  Ways ways;
  if (const std::size_t* index = std::get_if<std::size_t>(&choice)) {
    if (*index >= node.targets.size()) {
      return error(ErrorCode::invalid, "The branch at \"" + node.name + "\" selected edge " +
                                           std::to_string(*index) + " of " +
                                           std::to_string(node.targets.size()) + ".");
    }
    ways.nodes.push_back(node.targets[*index]);
  } else if (std::string* name = std::get_if<std::string>(&choice)) {
    ways.nodes.push_back(std::move(*name));
  } else if (auto* names = std::get_if<std::vector<std::string>>(&choice)) {
    ways.nodes = std::move(*names);
  } else {
    ways.sends = std::move(std::get<std::vector<Send>>(choice));
  }
  for (const std::string& name : ways.nodes) {
    if (!contains(node.targets, name)) return not_declared(task, "The branch at", name);
  }
  for (const Send& send : ways.sends) {
    if (!contains(node.targets, send.node)) return not_declared(task, "The branch at", send.node);
  }
  return ways;
}

Error too_many(const GraphDefinition& graph) {
  return error(ErrorCode::exhausted, "A superstep of the graph \"" + graph.name +
                                         "\" would have more than " +
                                         std::to_string(limits::superstep_tasks_max) + " tasks.");
}

// Makes the tasks: first one per node, in the order of the nodes' declarations, then one per send,
// in the order of the sends.
Result<std::vector<NodeTask>> tasks_for(const GraphDefinition& graph, const Run& run,
                                        std::vector<std::string> names, std::vector<Send> sends) {
  std::vector<const GraphDefinition::Node*> nodes;
  for (std::string& name : names) {
    BELAY_TRY(std::string target,
              past_approvals(graph, run.options, run.state.get(), std::move(name)));
    const GraphDefinition::Node* node = graph.find(target);
    if (node && std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
  }
  std::sort(nodes.begin(), nodes.end(), [](auto* a, auto* b) { return a->index < b->index; });
  if (nodes.size() + sends.size() > limits::superstep_tasks_max) return too_many(graph);
  std::vector<NodeTask> tasks(nodes.size() + sends.size());
  std::size_t position = 0;
  for (const GraphDefinition::Node* node : nodes) tasks[position++].node = node;
  for (Send& send : sends) {
    tasks[position].node = graph.find(send.node);
    tasks[position++].input = std::make_shared<const std::string>(std::move(send.input));
  }
  return tasks;
}

// Passes the decision of an approval, and those before it, to the tasks that it leads to.
Result<Done> pass_decisions(const GraphDefinition& graph, const Run& run,
                            std::vector<NodeTask>& tasks) {
  for (const NodeTask& approval : run.tasks) {
    if (!approval.decided) continue;
    for (const std::string& name : approval.answer.go_to) {
      BELAY_TRY(std::string target, past_approvals(graph, run.options, run.state.get(), name));
      for (NodeTask& task : tasks) {
        if (task.input || task.node->name != target) continue;
        for (const ApprovalDecision& earlier : approval.decisions) {
          if (earlier.approval != approval.decided->approval) task.decisions.push_back(earlier);
        }
        task.decisions.push_back(*approval.decided);
      }
    }
  }
  return Done{};
}

// Records in the joins that the task's node has completed. Appends the targets of the joins that
// are complete now.
void pass_joins(const GraphDefinition& graph, Run& run, const NodeTask& task,
                std::vector<std::string>& names) {
  for (std::size_t i = 0; i < graph.joins.size(); ++i) {
    const GraphDefinition::Join& join = graph.joins[i];
    if (!contains(join.from, task.node->name)) continue;
    std::vector<std::string>& seen = run.joins[i];
    if (!contains(seen, task.node->name)) seen.push_back(task.node->name);
    if (seen.size() < join.from.size()) continue;
    names.push_back(join.to);
    run.joins.erase(i);
  }
}

bool breaks_before(const Run& run, const GraphDefinition::Node& node) {
  bool is_of_run = run.checkpoint_ns.empty() && names_node(breakpoints_of(run).before, node.name);
  return node.interrupt_before || is_of_run;
}

bool requests_approvals(const GraphDefinition::Node& node) {
  return node.approval || (node.subgraph && has_approvals(*node.subgraph->graph));
}

// The nodes that a run can reach from the start without passing an approval, and the approvals at
// which it then waits.
std::vector<std::string> nodes_before_approvals(const GraphDefinition& graph) {
  std::vector<std::string> found, open = graph.entries;
  while (!open.empty()) {
    std::string name = std::move(open.back());
    open.pop_back();
    const GraphDefinition::Node* node = graph.find(name);
    if (!node || contains(found, name)) continue;
    found.push_back(std::move(name));
    if (requests_approvals(*node)) continue;
    open.insert(open.end(), node->targets.begin(), node->targets.end());
    open.insert(open.end(), node->destinations.begin(), node->destinations.end());
    for (const GraphDefinition::Join& join : graph.joins) {
      if (contains(join.from, node->name)) open.push_back(join.to);
    }
  }
  return found;
}

// Otherwise, a person who changes the state could have values used that no approval has shown.
Error behind_approval(const std::string& node) {
  return error(ErrorCode::forbidden,
               "The node \"" + node +
                   "\" is behind an approval, which has not shown the changed state. Fork the "
                   "thread with edits: a fork requests the approval again.");
}

Error unknown_node(const GraphDefinition& graph, const std::string& name) {
  return error(ErrorCode::invalid,
               "The graph \"" + graph.name + "\" has no node \"" + name + "\".");
}

// Passes the decisions that led to the first nodes to their tasks.
Result<Done> return_decisions(const RunBeginning& beginning, std::vector<NodeTask>& tasks) {
  for (const FirstNode& first : beginning.nodes) {
    if (first.decisions.empty()) continue;
    auto task = std::find_if(tasks.begin(), tasks.end(), [&](const NodeTask& each) {
      bool has_input = each.input ? *each.input == first.input : first.input.empty();
      return has_input && each.node->name == first.node && each.decisions.empty();
    });
    if (task == tasks.end()) continue;
    BELAY_TRY(task->decisions, decisions_from(first.decisions));
  }
  return Done{};
}

// The tasks with which a run begins after a change of its thread's state.
Result<std::vector<NodeTask>> beginning_tasks(const GraphDefinition& graph, const Run& run) {
  const RunBeginning& beginning = *run.options.beginning;
  Ways ways;
  BELAY_CHECK(check_beginning(graph, beginning, run.row));
  if (beginning.as_node == start) {
    ways.nodes = graph.entries;
  } else if (const GraphDefinition::Node* node = graph.find(beginning.as_node)) {
    NodeTask task;
    task.node = node;
    BELAY_TRY(ways, ways_after(task, run.state.get()));
  }
  for (const FirstNode& first : beginning.nodes) {
    if (first.input.empty()) {
      ways.nodes.push_back(first.node);
    } else {
      ways.sends.emplace_back(first.node, first.input);
    }
  }
  BELAY_TRY(auto tasks, tasks_for(graph, run, std::move(ways.nodes), std::move(ways.sends)));
  BELAY_CHECK(return_decisions(beginning, tasks));
  return tasks;
}

}  // namespace

Result<Ways> ways_after(const NodeTask& task, const void* state) {
  const GraphDefinition::Node& node = *task.node;
  Ways ways;
  const NodeUpdate& answer = task.answer;
  if (!answer.go_to.empty() || !answer.sends.empty()) {
    ways.nodes = answer.go_to;
    ways.sends = answer.sends;
    // The targets of an approval were declared with approved() and rejected().
    if (node.approval) return ways;
    for (const std::string& name : ways.nodes) {
      if (!contains(node.destinations, name)) return not_declared(task, "The node", name);
    }
    for (const Send& send : ways.sends) {
      if (!contains(node.destinations, send.node)) return not_declared(task, "The node", send.node);
    }
    return ways;
  }
  if (!node.choose) {
    ways.nodes = node.targets;
    return ways;
  }
  BELAY_TRY(GraphDefinition::Choice choice, choice_of(node, state));
  return ways_of_choice(task, std::move(choice));
}

// Skips at most as many approvals as the graph has nodes: a cycle of approvals would never end.
Result<std::string> past_approvals(const GraphDefinition& graph, const RunOptions& options,
                                   const void* state, std::string target) {
  for (std::size_t passed = 0; passed <= graph.nodes.size(); ++passed) {
    const GraphDefinition::Node* node = graph.find(target);
    if (!node || !node->approval) return target;
    auto asks = call_guarded<bool>("The condition of \"" + node->name + "\"", [&]() {
      return Result<bool>(must_ask(*node->approval, options, state));
    });
    if (!asks.ok()) return std::move(asks).error();
    if (*asks) return target;
    target = node->approval->approved;
  }
  return error(ErrorCode::invalid, "Approvals of the graph \"" + graph.name +
                                       "\" lead only to one another, never to a node.");
}

bool has_approvals(const GraphDefinition& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), requests_approvals);
}

Result<Done> check_beginning(const GraphDefinition& graph, const RunBeginning& beginning,
                             const RunRow& row) {
  BELAY_TRY(std::string_view values, json_in_envelope(row.input));
  bool keeps_state = beginning.from && beginning.as_node.empty() && values == "{}";
  std::vector<std::string> allowed = nodes_before_approvals(graph);
  const std::string& as_node = beginning.as_node;
  bool is_node = !as_node.empty() && as_node != start && as_node != end;
  if (is_node) {
    const GraphDefinition::Node* node = graph.find(as_node);
    if (!node) return unknown_node(graph, as_node);
    if (requests_approvals(*node)) {
      return error(ErrorCode::forbidden,
                   "\"" + as_node + "\" requests approvals: only decisions complete it.");
    }
    if (!contains(allowed, as_node)) return behind_approval(as_node);
  }
  for (const FirstNode& first : beginning.nodes) {
    if (!graph.find(first.node)) return unknown_node(graph, first.node);
    if (!keeps_state && !contains(allowed, first.node)) return behind_approval(first.node);
  }
  return Done{};
}

bool names_node(const std::vector<std::string>& breakpoints, const std::string& node) {
  return contains(breakpoints, node) || contains(breakpoints, "*");
}

bool breaks_after(const Run& run, const GraphDefinition::Node& node) {
  bool is_of_run = run.checkpoint_ns.empty() && names_node(breakpoints_of(run).after, node.name);
  return node.interrupt_after || is_of_run;
}

Result<std::vector<NodeTask>> first_tasks(const GraphDefinition& graph, const Run& run) {
  if (run.checkpoint_ns.empty() && run.options.beginning) return beginning_tasks(graph, run);
  return tasks_for(graph, run, graph.entries, {});
}

Result<std::vector<NodeTask>> next_tasks(const GraphDefinition& graph, Run& run) {
  std::vector<std::string> names;
  std::vector<Send> sends;
  for (const NodeTask& task : run.tasks) {
    BELAY_TRY(Ways ways, ways_after(task, run.state.get()));
    names.insert(names.end(), std::make_move_iterator(ways.nodes.begin()),
                 std::make_move_iterator(ways.nodes.end()));
    sends.insert(sends.end(), std::make_move_iterator(ways.sends.begin()),
                 std::make_move_iterator(ways.sends.end()));
    if (!graph.joins.empty()) pass_joins(graph, run, task, names);
  }
  bool leads_somewhere = !names.empty() || !sends.empty();
  BELAY_TRY(auto tasks, tasks_for(graph, run, std::move(names), std::move(sends)));
  BELAY_CHECK(pass_decisions(graph, run, tasks));
  if (!tasks.empty()) return tasks;
  for (const auto& [index, seen] : run.joins) {
    if (seen.empty() || leads_somewhere) continue;
    return error(ErrorCode::invalid, "The run has no next task: \"" + graph.joins[index].to +
                                         "\" joins several nodes, and not all of them will run.");
  }
  return tasks;
}

void begin_superstep(Run& run, std::vector<NodeTask> tasks) {
  ++run.superstep;
  run.tasks = std::move(tasks);
  run.unfinished = run.tasks.size();
  run.running = 0;
  run.first_ready = 0;
  run.unsaved.clear();
  run.tasks_to_check.clear();
  run.unsaved_inside.clear();
  run.at_breakpoint = false;
  bool several = is_parallel(run);
  for (std::size_t i = 0; i < run.tasks.size(); ++i) {
    NodeTask& task = run.tasks[i];
    task.position = i;
    task.id = task_id(run.row.run, run.checkpoint_ns, run.superstep, task.node->name,
                      several ? std::optional(i) : std::nullopt);
    run.at_breakpoint = run.at_breakpoint || breaks_before(run, *task.node);
  }
}

}  // namespace belay::engine
