#pragma once
// engine/next_task.h - the stored form of a checkpoint's next tasks.
//
// Format: a JSON array, empty if the run has ended, with one object per task: "node", "superstep"
// (only in the first task), and, unless they have their default, "input" (of a send), "attempt",
// "due", "error" {"code","message"}, "interrupt", "question", "answers" [{"question","approved",
// "payload","decidedBy","comment","choice"}], "decisions" [{"approval","choice","verdict","at",
// "decidedBy","onBehalfOf","comment","edited","answer","votes"}].
//
// The first object also has "materials", the run's bill by group, unless it is empty. If the run
// has ended, that object is {"version":hex,"materials":{}}, with "started":true if not upgraded.
//
// After the tasks: {"held":true} at a breakpoint; {"join":index,"seen":[names]} for each join of
// which some nodes have completed; {"version":hex} if the state was upgraded to another graph
// version than the one that the run started with; {"breakpoints":{"before":[],"after":[]}} if a
// resume has replaced those of the run's options.
//
// A commit within a superstep with several tasks has [{"as_of":seq}] instead of the tasks: they are
// those of the commit `seq` in the same namespace.

#include <string>

#include "engine/run.h"

namespace belay::engine {

// Returns the text for the run's current tasks. `whole`: writes the tasks themselves even within a
// superstep with several tasks, instead of "as_of".
std::string next_tasks_text(const Run& run, bool whole);

struct NextTasks {
  std::vector<NodeTask> tasks;     // without their ids and without pointers to their nodes
  std::vector<std::string> nodes;  // names of the tasks' nodes
  std::int64_t superstep = 0;
  bool at_breakpoint = false;
  std::map<std::size_t, std::vector<std::string>> joins;
  std::optional<std::uint64_t> as_of;
  std::optional<std::string> version;
  std::optional<Breakpoints> breakpoints;
  BillOfMaterials materials;
};
// Parses the text. `corrupt` if it does not have the format above.
Result<NextTasks> next_tasks_from(std::string_view text);

// Returns the id of a task. `position` is given only in a superstep with several tasks;
// `checkpoint_ns` is not empty only in a subgraph.
TaskId task_id(const RunId& run, std::string_view checkpoint_ns, std::int64_t superstep,
               std::string_view node, std::optional<std::size_t> position);
// Returns the namespace of a subgraph task: that of the task's own frame, then "node:task".
std::string inner_checkpoint_ns(std::string_view checkpoint_ns, std::string_view node,
                                const TaskId& task);

// Returns the text without the decisions. Older versions of Belay stored none: a commit of theirs
// is compared without them.
std::string without_decisions(const std::string& text);

// Returns the text without the bill of materials, by which a commit of another program differs.
// `version`: that the run started with.
std::string without_materials(const std::string& text, const Digest& version);

// The stored form of a decision.
Value value_of_decision(const ApprovalDecision& decision);
Result<ApprovalDecision> decision_from(const Value& value);
// The same of several, as a JSON array; empty for none.
std::string decisions_text(const std::vector<ApprovalDecision>& decisions);
Result<std::vector<ApprovalDecision>> decisions_from(std::string_view text);

// Write and read the parts of a task that this format shares with that of task_text.h.
void write_task_parts(const NodeTask& task, Encoder& out);
Result<Done> read_task_parts(const Value& from, NodeTask& task);

}  // namespace belay::engine
