#include "cli/exit_code.h"

namespace belay::cli {

ExitCode exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid:
    case ErrorCode::not_found:
    case ErrorCode::forbidden:
      return ExitCode::bad_input;
    case ErrorCode::conflict:
      return ExitCode::conflict;
    case ErrorCode::unavailable:
    case ErrorCode::uncertain:
    case ErrorCode::corrupt:
      return ExitCode::store;
    case ErrorCode::exhausted:
      return ExitCode::failed;
    case ErrorCode::cancelled:
      return ExitCode::cancelled;
  }
  return ExitCode::internal;
}

ExitCode exit_code_of(RunStatus status) {
  switch (status) {
    case RunStatus::completed:
      return ExitCode::done;
    case RunStatus::paused:
      return ExitCode::waiting;
    case RunStatus::cancelled:
      return ExitCode::cancelled;
    case RunStatus::failed:
    case RunStatus::quarantined:
      return ExitCode::failed;
    // A command that executes a run returns in these statuses only if another process has it.
    case RunStatus::queued:
    case RunStatus::running:
      return ExitCode::conflict;
  }
  return ExitCode::internal;
}

}  // namespace belay::cli
