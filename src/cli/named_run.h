#pragma once
// cli/named_run.h - finds the run that --run names.

#include "cli/command_context.h"

namespace belay::cli {

// Returns the run of the thread with this id, or whose id begins with these characters; nullopt
// without a name. Fails with `not_found` if the thread has no such run, with `invalid` if it has
// several.
Task<Result<std::optional<RunId>>> named_run(CommandContext& world, ThreadId thread,
                                             std::optional<std::string> name);

}  // namespace belay::cli
