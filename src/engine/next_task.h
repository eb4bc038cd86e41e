#pragma once
// engine/next_task.h - the chosen next task as a checkpoint keeps it.
//
// Format: a JSON array, empty when the run has ended, else one object a task: "node", and only
// where they say something "superstep" (always), "attempt", "due", "error" {"code","message"},
// "interrupt", "question", "answers" [{"question","approved","payload","decidedBy","comment"}].

#include <string>

#include "engine/run.h"

namespace belay::engine {

std::string next_tasks_text(const std::optional<NodeTask>& task, std::int64_t superstep);

struct NextTask {
  std::optional<NodeTask> task;  // without its id, which follows from run, superstep and node
  std::int64_t superstep = 0;
};
// `corrupt` for a text that this format does not allow.
Result<NextTask> next_task_from(std::string_view text);

// The id of the visit of `node` in `superstep` of `run`.
TaskId task_id(const RunId& run, std::int64_t superstep, std::string_view node);

}  // namespace belay::engine
