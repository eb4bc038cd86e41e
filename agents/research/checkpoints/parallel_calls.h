#pragma once
// agents/research/checkpoints/parallel_calls.h - executes a number of calls, some at the same time.

#include <cstddef>
#include <functional>

#include "belay/task.h"

namespace belay::research {

using NumberedCall = std::function<Task<Result<Done>>(std::size_t number)>;

// Executes `call` for each number below `count`, at most `together` at the same time, in their
// order. After an error no further one begins; returns the first error when those in progress have
// ended. `call` lives until then. Threading: the executor's thread.
Task<Result<Done>> call_each(std::size_t count, std::size_t together, NumberedCall call);

}  // namespace belay::research
