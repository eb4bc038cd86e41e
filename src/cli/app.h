#pragma once
// cli/app.h - builds the world of a program and runs one verb in it.

#include "cli/program.h"

namespace belay::cli {

// The process's exit code. Nothing of it outlives the call.
int run_program(const Program& program, int count, const char* const* words);

}  // namespace belay::cli
