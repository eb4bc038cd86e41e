#pragma once
// wellbeing/module.h - the wellbeing agents as a module: two graphs with their short forms, notes
// and the other records with their commands and routes, the rules as a model, and the display of
// audits and routines.

#include "belay/module.h"

namespace belay::wellbeing {

Module module();

}  // namespace belay::wellbeing
