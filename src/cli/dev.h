#pragma once
// cli/dev.h - belay dev: a server for work on an agent, that starts anew whenever its program is
// built anew. Runs go on where they were: that is what a store is for.

#include "cli/arguments.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/settings.h"

namespace belay::cli {

// Serves until a signal comes. Opens no store itself: the server that it starts does. Blocks.
Result<ExitCode> develop(const Program& program, const Settings& settings, const Dev& wanted,
                         Output& output);

}  // namespace belay::cli
