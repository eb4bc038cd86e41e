#pragma once
// agents/research/graph/graph_settings.h - the settings of the graph, and the sink that they
// select.
//
// The settings name files with the password or the token, and do not contain them: `config explain`
// shows the values of all settings.

#include <memory>
#include <string>
#include <vector>

#include "agents/research/graph/graph_sink.h"
#include "belay/module.h"

namespace belay::research {

// For Module::settings.
std::vector<ModuleSetting> graph_settings();

struct GraphSetup {
  std::shared_ptr<GraphSink> sink;                       // never null
  std::shared_ptr<const Neo4jOptions> server = nullptr;  // for GraphConnection; null: no Neo4j
};

// Reads the files. The sink is that of research_graph: "none", also if the setting is unset or a
// server has the runs, "file" or "neo4j". Fails with `invalid` for other values, for settings that
// the sink cannot use, and for a secret file that cannot be read, that other users can read, or
// that is empty or larger than 4 KiB.
Result<GraphSetup> graph_setup(const ModuleSettings& settings);

}  // namespace belay::research
