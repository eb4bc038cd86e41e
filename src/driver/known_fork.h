#pragma once
// driver/known_fork.h - recognises a fork that is asked for again under its thread's name.

#include <string>

#include "belay/runtime.h"

namespace belay {

// Digest of what a fork was asked for: the same for the same options, whatever has become of the
// thread that it was forked from.
std::string fork_request(const ForkOptions& options);

}  // namespace belay
