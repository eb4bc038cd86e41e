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
// Returns the tasks of the first superstep.
Result<std::vector<NodeTask>> first_tasks(const GraphDefinition& graph, const Run& run);

// Starts the next superstep, with these tasks: assigns their positions and ids.
void begin_superstep(Run& run, std::vector<NodeTask> tasks);

}  // namespace belay::engine
