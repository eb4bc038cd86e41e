#pragma once
// cli/exit_code.h - the exit codes (belay/command.h) for errors and statuses.

#include "belay/command.h"
#include "belay/rows.h"

namespace belay::cli {

// Returns the exit code for the error of a command.
ExitCode exit_code_of(ErrorCode code);

// Returns the exit code for the current status of a run that a command has executed or changed.
ExitCode exit_code_of(RunStatus status);

}  // namespace belay::cli
