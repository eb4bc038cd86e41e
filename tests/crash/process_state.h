#pragma once
// tests/crash/process_state.h - what the kernel says of child processes that run, or have ended.

#include <sys/types.h>

namespace belay::crash {

// Whether a process that was just begun has come as far as to drain when it is told to: from then
// on it holds the signal back, and looks for it.
bool heeds_sigterm(pid_t process);

// Whether it has ended, and nobody has asked how yet.
bool has_ended(pid_t process);

}  // namespace belay::crash
