#pragma once
// wellbeing/payloads.h - displays audits and routines, and marks crises.

#include "belay/module.h"

namespace belay::wellbeing {

Presentation wellbeing_presentation();

}  // namespace belay::wellbeing
