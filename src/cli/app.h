#pragma once
// cli/app.h - builds the context of a program and executes one command in it.

#include "cli/program.h"

namespace belay::cli {

// Returns the exit code of the process. Nothing that it creates outlives the call.
int run_program(const Program& program, int count, const char* const* words);

}  // namespace belay::cli
