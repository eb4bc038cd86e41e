#pragma once
// cli/dev.h - `belay dev`: a server for development, restarted whenever its program is rebuilt.
//
// After a restart, runs continue from the store.

#include "cli/arguments.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/settings.h"

namespace belay::cli {

// Serves until a signal arrives. Opens no store; the server process that it starts does. Blocks.
Result<ExitCode> develop(const Program& program, const Settings& settings, const Dev& wanted,
                         Output& output);

}  // namespace belay::cli
