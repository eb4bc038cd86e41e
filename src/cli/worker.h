#pragma once
// cli/worker.h - what `worker` and `serve` have in common.

#include "cli/arguments.h"
#include "cli/world.h"

namespace belay::cli {

// Works on what waits in the store until the runtime is drained, delivers messages, and forgets
// from time to time what ended long ago. How many runs it took up.
Task<Result<std::size_t>> work_until_drained(World& world, Work wanted);

}  // namespace belay::cli
