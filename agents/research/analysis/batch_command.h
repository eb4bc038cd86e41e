#pragma once
// agents/research/analysis/batch_command.h - `belay research batch`.

#include "belay/command.h"

namespace belay::research {

ModuleCommandSpec batch_command();

}  // namespace belay::research
