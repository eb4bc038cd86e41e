#pragma once
// goals/goal_commands.h - `belay goals`.

#include <vector>

#include "belay/command.h"

namespace belay::goals {

std::vector<ModuleCommandSpec> goal_commands();

}  // namespace belay::goals
