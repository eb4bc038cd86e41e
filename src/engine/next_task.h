#pragma once
// engine/next_task.h - the chosen next tasks as a checkpoint keeps them.
//
// Format: a JSON array, empty when the run has ended, else one object a task: "node", "superstep"
// (the first task only), and where they say something "input" (what was sent), "attempt", "due",
// "error" {"code","message"}, "interrupt", "question", "answers" [{"question","approved","payload",
// "decidedBy","comment"}]. After the tasks: {"held":true} at a breakpoint, and for each join that
// has seen some of its nodes {"join":index,"seen":[names]}, and {"version":hex} once the state has
// been upgraded to another version of the graph than the run began with. A commit in the midst of a
// superstep of several tasks says [{"as_of":seq}]: the tasks that this commit of the same space
// chose.

#include <string>

#include "engine/run.h"

namespace belay::engine {

// Of the run as it stands; `whole` writes the tasks even in the midst of a superstep of several.
std::string next_tasks_text(const Run& run, bool whole);

// A member of an object; "" where it is no text.
std::string string_in(const Value& object, std::string_view name);

struct NextTasks {
  std::vector<NodeTask> tasks;     // without their ids and nodes' definitions
  std::vector<std::string> nodes;  // their nodes' names
  std::int64_t superstep = 0;
  bool at_breakpoint = false;
  std::map<std::size_t, std::vector<std::string>> joins;
  std::optional<std::uint64_t> as_of;
  std::optional<std::string> version;
};
// `corrupt` for a text that this format does not allow.
Result<NextTasks> next_tasks_from(std::string_view text);

// The id of a visit. `position` counts only among several tasks, `space` only inside a subgraph.
TaskId task_id(const RunId& run, std::string_view checkpoint_ns, std::int64_t superstep,
               std::string_view node, std::optional<std::size_t> position);
// The namespace of the visit that `task` of `space` makes of its subgraph.
std::string inner_checkpoint_ns(std::string_view checkpoint_ns, std::string_view node,
                                const TaskId& task);

// The parts of a task that both formats, this one and that of task_text.h, have in common.
void write_task_parts(const NodeTask& task, Encoder& out);
Result<Done> read_task_parts(const Value& from, NodeTask& task);

}  // namespace belay::engine
