#pragma once
// cli/program_graphs.h - the graphs of a program, with the default model of its bills of materials.

#include "cli/program.h"
#include "cli/settings.h"

namespace belay::cli {

// Returns the graphs in a program with this model.
Definitions with_model(Definitions graphs, const Model& model);
// Returns the program's graphs with the model that its settings name.
Result<Definitions> graphs_with_model(const Program& program, const Settings& settings,
                                      Clock& clock);

}  // namespace belay::cli
