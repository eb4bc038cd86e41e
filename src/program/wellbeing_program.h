#pragma once
// program/wellbeing_program.h - belay as it ships: the wellbeing agents, and notes to feed them.

#include "cli/program.h"

namespace belay::program {

cli::Program wellbeing_program();

}  // namespace belay::program
