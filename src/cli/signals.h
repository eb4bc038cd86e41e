#pragma once
// cli/signals.h - converts Ctrl-C and SIGTERM into events that a command polls.
//
// The signals are caught, not blocked: any thread of the program, including those started earlier,
// may run the handler, which only writes to a pipe.

#include <optional>

namespace belay::cli {

// Catches SIGINT and SIGTERM, and ignores SIGPIPE: a write to a closed pipe fails instead. If
// SIGINT is already ignored (a background job), it remains ignored. Must be called once.
void catch_signals();

// Returns the first caught signal that has not been taken yet. Does not wait.
std::optional<int> take_signal();

// Makes the next signal end the process as if it were not caught, for a command that ends
// immediately. Without this call, the third signal does so.
void end_at_next_signal();

}  // namespace belay::cli
