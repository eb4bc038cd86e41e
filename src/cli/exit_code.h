#pragma once
// cli/exit_code.h - the exit codes of the process: stable, tested, and listed by `belay --help`.

#include "belay/result.h"
#include "belay/rows.h"

namespace belay::cli {

enum class ExitCode {
  done = 0,
  failed = 1,     // the run failed, or a check found a fault
  bad_input = 2,  // the command can never succeed, or an object does not exist
  waiting = 3,    // for a decision
  conflict = 4,   // decided otherwise, expired, ended, or owned by a live process
  store = 6,      // unavailable, damaged, or written by a newer Belay
  cancelled = 7,  // the run was cancelled
  internal = 70,
  // If a signal stopped the command, it returns 128 plus the signal's number: 130 for Ctrl-C.
};

// Returns the exit code for the error of a command.
ExitCode exit_code_of(ErrorCode code);

// Returns the exit code for the current status of a run that a command has executed or changed.
ExitCode exit_code_of(RunStatus status);

}  // namespace belay::cli
