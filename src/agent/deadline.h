#pragma once
// agent/deadline.h - stops the function of a tool that takes too long.

#include <chrono>
#include <exception>
#include <string>

#include "belay/task.h"

namespace belay::agents {

struct ToolOutcome {
  Result<std::string> text = std::string();
  // An exception that is not an error, such as a request for a decision: the caller throws it
  // again.
  std::exception_ptr thrown = nullptr;
};

// Executes the function and converts an exception to an error. If it has not ended within `limit`,
// destroys it and returns `late`; zero: unlimited. A function that never waits cannot be stopped.
Task<ToolOutcome> within(std::chrono::milliseconds limit, Task<Result<std::string>> function,
                         Error late);

}  // namespace belay::agents
