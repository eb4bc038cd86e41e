#pragma once
// bench/child_program.h - a program that is executed to its end, with its time and its memory.

#include <sys/types.h>

#include <string>
#include <vector>

namespace belay::bench {

struct EndedProgram {
  double seconds = 0;
  double cpu = 0;           // processor time, in seconds
  double resident_max = 0;  // bytes
  int code = 0;             // its exit code; -1: ended by a signal
};

// Starts a program whose input and output are /dev/null.
pid_t start_program(const std::vector<std::string>& words);
// Waits for its end; `seconds` is not set. Its memory is at least the highest of this process until
// its start: that is how the kernel counts it.
EndedProgram wait_for_program(pid_t process);
// Starts it and waits for its end.
EndedProgram execute_program(const std::vector<std::string>& words);

// Returns the processor time of a process and its children, those that have ended included, in
// seconds.
double cpu_of_process_tree(pid_t process);

}  // namespace belay::bench
