#pragma once
// cli/app.h - the program: builds the world and runs one verb in it.

namespace belay::cli {

// The process's exit code. Nothing of it outlives the call.
int run_program(int count, const char* const* words);

}  // namespace belay::cli
