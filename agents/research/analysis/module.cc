#include "agents/research/analysis/module.h"

#include "agents/research/analysis/coordinator.h"
#include "agents/research/analysis/records.h"
#include "agents/research/analysis/request_options.h"
#include "agents/research/analysis/research_commands.h"

namespace belay::research {
namespace {

// Shows the question of a gate with the progress so far.
bool show_progress(ModuleContext& context, const Value& payload) {
  const Value::Object* progress = payload["progress"].as_object();
  if (!progress || !payload["analysis"].as_string() || !payload["ticker"].as_string()) return false;
  for (const auto& [name, text] : *progress) {
    const std::string* done = text.as_string();
    context.output.line("  " + padded(name, 22) + (done ? *done : "") + " subtasks");
  }
  return true;
}

}  // namespace

Module module(ResearchParts parts) {
  Module module;
  module.name = "research";
  module.graphs = [parts](const ModuleSettings& settings) -> Result<Definitions> {
    auto shared = std::make_shared<ResearchParts>(parts);
    // The server has the runs, and its own folders.
    if (!settings.is_remote) shared->data = bundled_data_folder(settings);
    BELAY_TRY(Graph<Analysis> graph, analysis_graph(std::move(shared)));
    return Definitions{graph.definition()};
  };
  module.collections = {std::string(AnalysisRow::collection), std::string(Deliverable::collection),
                        std::string(FindingRow::collection), std::string(PauseRequest::collection)};
  module.settings = {{kDataSetting, "BELAY_RESEARCH_DATA",
                      "folder with the filings and prices for research", true}};
  module.commands = research_commands();
  module.presentation.payload = show_progress;
  return module;
}

}  // namespace belay::research
