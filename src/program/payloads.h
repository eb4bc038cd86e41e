#pragma once
// program/payloads.h - displays audits and routines, and marks crises.

#include "cli/program.h"

namespace belay::program {

cli::Presentation wellbeing_presentation();

}  // namespace belay::program
