#pragma once
// service/held_by.h - RunView::held_by: the reason for which a queued run waits, in a few words.

#include "service/wait_facts.h"

namespace belay {

// The reason of a run that no process executes although it is `running`.
inline constexpr std::string_view kProcessGone = "its process is gone";

// Empty if a worker can claim the run.
Task<Result<std::string>> held_by(WaitParts parts, RunRow run);

}  // namespace belay
