#pragma once
// engine/route.h - selects the next tasks of a run. Pure: the same state selects the same tasks.

#include <string>
#include <vector>

#include "engine/run.h"

namespace belay::engine {

struct Ways {
  std::vector<std::string> nodes;
  std::vector<Send> sends;
};

// Returns the targets of one completed task. `invalid` if its branch throws, or selects a target
// that it did not declare.
Result<Ways> ways_after(const NodeTask& task, const void* state);

// Returns the node to schedule if `target` is selected: approvals that need no decision count as
// approved. `invalid` if a condition throws, or approvals form a cycle.
Result<std::string> past_approvals(const GraphDefinition& graph, const RunOptions& options,
                                   const void* state, std::string target);

// Returns the tasks of the next superstep; none if the run has completed. Updates the incomplete
// joins in `run`. The tasks have no ids yet.
Result<std::vector<NodeTask>> next_tasks(const GraphDefinition& graph, Run& run);
// Returns the tasks of the first superstep: those of RunOptions::beginning, if it is set. `invalid`
// if it names a node that the graph does not have, or one behind an approval that it would skip.
Result<std::vector<NodeTask>> first_tasks(const GraphDefinition& graph, const Run& run);

// Fails if the beginning of a run names a node that the graph does not have (`invalid`), or one
// that a run reaches only behind an approval (`forbidden`), which has not shown the changed state.
// The nodes after `as_node` need no check: approvals among them are requested as usual. `row`: of
// the run. One that begins from a commit with its state and its nodes can begin behind a decision,
// as a fork without edits can.
Result<Done> check_beginning(const GraphDefinition& graph, const RunBeginning& beginning,
                             const RunRow& row);
// Whether the graph or one of its subgraphs has approvals.
bool has_approvals(const GraphDefinition& graph);

// Whether breakpoints (Breakpoints::before or ::after) name the node.
bool names_node(const std::vector<std::string>& breakpoints, const std::string& node);
// Whether the graph, or the run, has a breakpoint after the node.
bool breaks_after(const Run& run, const GraphDefinition::Node& node);

// Starts the next superstep, with these tasks: assigns their positions and ids.
void begin_superstep(Run& run, std::vector<NodeTask> tasks);

}  // namespace belay::engine
