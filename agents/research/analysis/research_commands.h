#pragma once
// agents/research/analysis/research_commands.h - `belay research ...`.

#include <vector>

#include "belay/command.h"

namespace belay::research {

std::vector<ModuleCommandSpec> research_commands();

}  // namespace belay::research
