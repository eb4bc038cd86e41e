#pragma once
// langgraph/state_tasks.h - the tasks of a checkpoint, with their interrupts and the states of
// their subgraphs.
//
// The commits of a subgraph in progress, and the writes of a task that waits for the others of its
// superstep, are only in the rows of the run. add_subgraphs() therefore reads the whole run, which
// only a request with `subgraphs` does. Without it, an approval within a subgraph is shown at the
// first task of a superstep of several, and a task that waits for a timer while others wait for a
// person is not `next`.
//
// Threading: on the executor that awaits.

#include "langgraph/state.h"

namespace belay::langgraph {

// A task of a checkpoint.
struct StateTask {
  TaskId id;
  std::string node;
  bool has_ended = false;
  Value::Array interrupts = {};
  Value result = {};  // the writes of a task that has ended; null: unknown
  Value state = {};   // of its subgraph: a ThreadState; null: none
};

Result<std::vector<StateTask>> state_tasks(const CheckpointRow& commit);
// The names of those that have not ended.
Value::Array next_nodes(const std::vector<StateTask>& tasks);
// The documents of the tasks. `failure`: the error of their run; empty: none.
Value task_documents(std::vector<StateTask> tasks, const std::string& failure);

// Adds the open approvals to their tasks, and marks the tasks that have ended while others wait.
void add_interrupts(const RunView& view, std::vector<StateTask>& tasks);
// Replaces both by those in the rows of the run, and adds the states of the subgraphs in progress.
// Changes nothing unless the checkpoint is the newest one of its run.
Task<Result<Done>> add_subgraphs(const server::Call& call, const ThreadCheckpoint& checkpoint,
                                 std::vector<StateTask>& tasks);

}  // namespace belay::langgraph
