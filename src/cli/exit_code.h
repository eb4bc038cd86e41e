#pragma once
// cli/exit_code.h - what the process says to the shell: stable, tested, and told by `belay --help`.

#include "belay/result.h"
#include "belay/rows.h"

namespace belay::cli {

enum class ExitCode {
  done = 0,
  failed = 1,     // the run failed, or the check found something
  bad_input = 2,  // the same command can never work; also for what does not exist
  waiting = 3,    // for a person
  conflict = 4,   // decided otherwise, expired, ended, or owned by a living process
  store = 6,      // unavailable, damaged, or of a newer Belay
  cancelled = 7,  // the run was cancelled
  internal = 70,
  // A signal's number above 128 stands for a command that was stopped: 130 for Ctrl-C.
};

// What an Error of a command means to the shell.
ExitCode exit_code_of(ErrorCode code);

// What a run that a command has moved, as it stands now, means to the shell.
ExitCode exit_code_of(RunStatus status);

}  // namespace belay::cli
