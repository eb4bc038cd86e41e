#pragma once
// cli/combined_presentation.h - combines the presentations of modules.

#include <vector>

#include "belay/module.h"

namespace belay::cli {

// The presentations of all modules as one: a payload is shown by the first module that accepts it.
Presentation combined_presentation(const std::vector<Module>& modules);

}  // namespace belay::cli
