#pragma once
// tests/crash/process_state.h - reads the kernel's state of child processes.

#include <sys/types.h>

namespace belay::crash {

// Returns whether a new process already catches SIGTERM; from then on the signal causes a drain
// instead of killing it.
bool heeds_sigterm(pid_t process);

// Returns whether the process has ended and has not been waited for yet; leaves its exit status in
// place.
bool has_ended(pid_t process);

}  // namespace belay::crash
