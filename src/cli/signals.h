#pragma once
// cli/signals.h - Ctrl-C and SIGTERM as something to be asked for, in place of a sudden end.

#include <optional>

namespace belay::cli {

// Holds SIGINT and SIGTERM back, for this thread and those that it starts later, and ignores
// SIGPIPE: a reader that goes away is seen where the writing fails.
void hold_signals();

// The signal that has been held back since, if there is one. After it the next one ends the process
// at once, should ending in good order take too long.
std::optional<int> take_signal();

}  // namespace belay::cli
