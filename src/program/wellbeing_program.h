#pragma once
// program/wellbeing_program.h - the `belay` program: the wellbeing agents and their notes.

#include "cli/program.h"

namespace belay::program {

cli::Program wellbeing_program();

}  // namespace belay::program
