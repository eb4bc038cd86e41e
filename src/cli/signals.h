#pragma once
// cli/signals.h - Ctrl-C and SIGTERM as events that a command asks for, in place of a sudden end.
//
// The signals are caught, not blocked: it does not matter which threads a program has started
// before, since any of them may run the handler, which only writes to a pipe.

#include <optional>

namespace belay::cli {

// Catches SIGINT and SIGTERM from now on, and ignores SIGPIPE: a write to a reader that is gone
// fails instead. A SIGINT that is ignored, as of a job in the background, stays ignored. Once.
void catch_signals();

// The first signal that was caught and not taken yet. Does not wait.
std::optional<int> take_signal();

// The next signal ends the process as if it were not caught: a command that ends at once needs no
// second one. Without this the third does.
void end_at_next_signal();

}  // namespace belay::cli
