#pragma once
// engine/route.h - where a run goes next. Pure: the same state chooses the same way.

#include <string>
#include <vector>

#include "engine/run.h"

namespace belay::engine {

struct Ways {
  std::vector<std::string> nodes;
  std::vector<Send> sends;
};

// Where one ended task leads to. `invalid` when the branch throws or chooses what it did not
// declare.
Result<Ways> ways_after(const NodeTask& task, const void* state);

// The node to visit when `target` is chosen: approvals that need not ask count as approved.
// `invalid` when a condition throws, or approvals lead to one another in a ring.
Result<std::string> past_approvals(const GraphDefinition& graph, const RunOptions& options,
                                   const void* state, std::string target);

// The tasks of the superstep after the one under way, or none when the run has come to its end.
// Joins that wait for more are noted in `run`. The tasks have no ids yet.
Result<std::vector<NodeTask>> next_tasks(const GraphDefinition& graph, Run& run);
// The tasks of the first superstep.
Result<std::vector<NodeTask>> first_tasks(const GraphDefinition& graph, const Run& run);

// Puts the run at the beginning of the superstep of these tasks.
void begin_superstep(Run& run, std::vector<NodeTask> tasks);

}  // namespace belay::engine
