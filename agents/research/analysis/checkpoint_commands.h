#pragma once
// agents/research/analysis/checkpoint_commands.h - `belay research checkpoints` and `preserve`.

#include <vector>

#include "belay/command.h"

namespace belay::research {

std::vector<ModuleCommandSpec> checkpoint_commands();

}  // namespace belay::research
