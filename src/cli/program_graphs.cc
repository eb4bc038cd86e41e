#include "cli/program_graphs.h"

#include "graph/bill_of_materials.h"

namespace belay::cli {

Definitions with_model(Definitions graphs, const Model& model) {
  for (auto& graph : graphs) graph = with_default_model(std::move(graph), model.name());
  return graphs;
}

Result<Definitions> graphs_with_model(const Program& program, const Settings& settings,
                                      Clock& clock) {
  BELAY_TRY(Definitions graphs, program.graphs(settings));
  BELAY_TRY(std::shared_ptr<Model> model, program.model(settings, clock));
  return with_model(std::move(graphs), *model);
}

}  // namespace belay::cli
