#pragma once
// cli/error_hints.h - the commands that errors of the service suggest.

#include "cli/command_context.h"

namespace belay::cli {

// Adds the command that lists the threads to an error about an unknown thread, and the one that
// lists the commits to an error about an unknown commit. Other errors remain as they are.
Error with_hint(const CommandContext& world, Error failed);

}  // namespace belay::cli
