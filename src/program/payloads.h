#pragma once
// program/payloads.h - audits and routines as people read them, and crises that stand out.

#include "cli/program.h"

namespace belay::program {

cli::Presentation wellbeing_presentation();

}  // namespace belay::program
