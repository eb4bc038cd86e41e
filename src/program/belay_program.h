#pragma once
// program/belay_program.h - the modules of the `belay` program.

#include "belay/main.h"

namespace belay::program {

MainOptions options();
std::vector<Module> modules();

}  // namespace belay::program
