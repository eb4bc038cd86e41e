#pragma once
// cli/modules.h - combines the modules of a program (belay/module.h) to its Program.

#include <string>
#include <vector>

#include "belay/main.h"
#include "cli/program.h"

namespace belay::cli {

// `called`: how the program was called. Fails with `invalid`, naming both modules, if two of them
// have a command, short form, route, collection, setting, model or topic of one name. Graphs of one
// name are found when they are built: Program::graphs.
Result<Program> program_with(const std::string& called, MainOptions options,
                             std::vector<Module> modules);

}  // namespace belay::cli
