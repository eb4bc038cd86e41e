#pragma once
// cli/program_output.h - runs another program to its end, and returns what it writes.
//
// Threading: the main thread.

#include <string>
#include <vector>

#include "belay/result.h"

namespace belay::cli {

struct ProgramOutput {
  int code = 0;  // its exit code; 128 + the signal that ended it
  std::string text;
};

// Its standard error is that of this process, its standard input is empty. Its environment is that
// of this process, with `variables` ("NAME=value") instead of those of their names. `not_found` if
// the program cannot be started; `invalid` if it writes more than 64 MiB. A signal to this process
// ends the program.
Result<ProgramOutput> output_of(const std::string& program, std::vector<std::string> words,
                                std::vector<std::string> variables);

}  // namespace belay::cli
