#include "agents/research/analysis/module.h"

#include "agents/research/analysis/analysis_documents.h"
#include "agents/research/analysis/checkpoint_commands.h"
#include "agents/research/analysis/checkpoint_sweep.h"
#include "agents/research/analysis/coordinator.h"
#include "agents/research/analysis/records.h"
#include "agents/research/analysis/request_options.h"
#include "agents/research/analysis/research_commands.h"
#include "agents/research/analysis/research_routes.h"
#include "agents/research/checkpoints/shared_checkpoint_cache.h"
#include "agents/research/edgar/fetch_command.h"
#include "agents/research/graph/graph_settings.h"

namespace belay::research {
namespace {

constexpr const char* kCheckpointSetting = "research_checkpoints";
constexpr const char* kFoldersSetting = "research_folders";

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

// Changes the options as the setting asks.
Result<Done> read_checkpoint_setting(const ModuleSettings& settings, CheckpointOptions& options) {
  std::string value = settings.value(kCheckpointSetting);
  if (value.empty() || value == "on") return Done{};
  options.enabled = value != "off";
  options.archive = value == "archive";
  if (value == "off" || value == "archive") return Done{};
  return error(ErrorCode::invalid, "Invalid " + std::string(kCheckpointSetting) + " \"" + value +
                                       "\": expected on, off or archive.");
}

// The folders in a list that colons separate.
std::vector<std::string> folders_in(const std::string& list) {
  std::vector<std::string> folders;
  for (std::size_t begin = 0; begin < list.size();) {
    std::size_t colon = std::min(list.find(':', begin), list.size());
    if (colon > begin) folders.push_back(list.substr(begin, colon - begin));
    begin = colon + 1;
  }
  return folders;
}

Result<std::shared_ptr<ResearchParts>> parts_for(const ResearchParts& given,
                                                 const ModuleSettings& settings) {
  auto parts = std::make_shared<ResearchParts>(given);
  if (settings.is_remote) return parts;  // the server has the runs, and its own folders
  parts->data = bundled_data_folder(settings);
  if (settings.is_service) parts->permitted_data = folders_in(settings.value(kFoldersSetting));
  BELAY_CHECK(read_checkpoint_setting(settings, parts->checkpoints));
  if (settings.texts) {
    parts->checkpoint_cache = std::make_shared<SharedCheckpointCache>(*settings.texts);
  }
  BELAY_TRY(GraphSetup graph, graph_setup(settings));
  parts->graph = std::move(graph.sink);
  return parts;
}

Result<std::map<std::string, Receiver>> receivers_for(const ModuleSettings& settings) {
  std::map<std::string, Receiver> receivers;
  BELAY_TRY(GraphSetup graph, graph_setup(settings));
  // Without a server, messages of earlier settings wait in the outbox.
  if (!graph.server) return receivers;
  auto connection = std::make_shared<GraphConnection>();
  connection->server = std::move(graph.server);
  connection->http = settings.http;
  receivers.emplace(kGraphTopic, graph_receiver(std::move(connection)));
  return receivers;
}

std::vector<RecordCollection> collections_of_research() {
  return {record_collection<AnalysisRow>(),       record_collection<Deliverable>(),
          record_collection<FindingRow>(),        record_collection<PauseRequest>(),
          record_collection<AgentCheckpoint>(),   record_collection<CheckpointHead>(),
          record_collection<PreservedAnalysis>(), record_collection<ArchivedCheckpoint>()};
}

template <typename T>
void append_all(std::vector<T>& to, std::vector<T> from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

}  // namespace

Module module(ResearchParts given) {
  Module module;
  module.name = "research";
  module.graphs = [given](const ModuleSettings& settings) -> Result<Definitions> {
    BELAY_TRY(auto parts, parts_for(given, settings));
    BELAY_TRY(Graph<Analysis> analysis, analysis_graph(parts));
    BELAY_TRY(Graph<CheckpointSweep> sweep, checkpoint_sweep_graph(parts));
    return Definitions{analysis.definition(), sweep.definition()};
  };
  module.collections = collections_of_research();
  module.make_receivers = receivers_for;
  module.settings = {{kDataSetting, "BELAY_RESEARCH_DATA",
                      "folder with the filings and prices for research", true},
                     {kFoldersSetting, "BELAY_RESEARCH_FOLDERS",
                      "folders that orders of other callers may name, separated by colons", true},
                     {kCheckpointSetting, "BELAY_RESEARCH_CHECKPOINTS",
                      "checkpoints of specialists: on, off, or archive"}};
  append_all(module.settings, edgar_settings());
  append_all(module.settings, graph_settings());
  module.commands = research_commands();
  append_all(module.commands, checkpoint_commands());
  append_all(module.commands, fetch_commands());
  module.routes = research_routes();
  module.presentation.payload = show_progress;
  module.presentation.schemas = research_schemas();
  return module;
}

}  // namespace belay::research
