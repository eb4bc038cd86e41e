#pragma once
// engine/task_text.h - the stored form of a task in a superstep with several tasks (TaskRow).
//
// Format: a JSON object with the parts of next_task.h ("attempt", "due", "error", "interrupt",
// "question", "answers") and, once the task is done and unless they are empty, "goTo" [names],
// "sends" [{"node","input"}], "records" [{"collection","user","key","json","indexed":[[field,
// value]],"erase"}], "events" [{"name","body","type"}], "messages" [{"topic","body"}], "effects"
// (number of journal rows), "outcome", "decided" (next_task.h); always "retries", the run's failed
// attempts so far, and "seq", the run's newest commit when the row was written (missing in rows of
// older versions of Belay). The channel writes of the task are value rows whose index is its
// position.

#include "engine/run.h"

namespace belay::engine {

// Returns the row of a task. `seq` is that of the run itself, not of the subgraph's frame.
TaskRow task_row(const Run& run, const NodeTask& task, std::uint64_t seq);
// Sets the parts of the task from its row. `corrupt` if the row does not have the format above.
Result<Done> apply_task_row(const TaskRow& row, Run& run);

}  // namespace belay::engine
