#pragma once
// engine/task_text.h - what a TaskRow's envelope says of a task in a superstep of several.
//
// Format: a JSON object with the parts of next_task.h ("attempt", "due", "error", "interrupt",
// "question", "answers") and, once the task is done and where they say something, "goTo" [names],
// "sends" [{"node","input"}], "records" [{"collection","user","key","json","indexed":[[field,
// value]],"erase"}], "events" [{"name","body","type"}], "messages" [{"topic","body"}], "effects"
// (rows of the journal), "outcome"; always "retries", the run's failed attempts so far, and "seq",
// the run's newest commit when this was written (rows of older versions lack it). The task's
// channel writes are in value rows at its position.

#include "engine/run.h"

namespace belay::engine {

// `seq`: of the outermost run.
TaskRow task_row(const Run& run, const NodeTask& task, std::uint64_t seq);
// Puts what the row says into the task. `corrupt` for a row that this format does not allow.
Result<Done> apply_task_row(const TaskRow& row, Run& run);

}  // namespace belay::engine
