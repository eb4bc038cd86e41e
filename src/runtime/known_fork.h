#pragma once
// runtime/known_fork.h - recognises a repeated fork request by the name of its thread.

#include <string>

#include "belay/runtime.h"

namespace belay {

// Returns a digest of the fork's request: the same for the same options, whatever the current state
// of the thread that it was forked from.
std::string fork_request(const ForkOptions& options);

}  // namespace belay
