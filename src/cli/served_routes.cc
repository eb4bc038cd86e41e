#include "cli/served_routes.h"

#include <algorithm>

#include "a2a/a2a_options.h"
#include "ag_ui/ag_ui_options.h"
#include "langgraph/agent_server.h"
#include "server/module_routes.h"

namespace belay::cli {
namespace {

// Without those of the modules that are loaded on request and were not requested.
std::vector<ModuleRoute> loaded_routes(const Program& program, const Settings& settings) {
  auto contains = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::vector<ModuleRoute> routes;
  for (const ModuleRoute& route : program.routes) {
    bool is_on_request = contains(program.on_request, route.module);
    if (!is_on_request || contains(settings.modules, route.module)) routes.push_back(route);
  }
  return routes;
}

}  // namespace

server::Api::OwnRoutes served_routes(const Program& program, const Settings& settings,
                                     ServedOptions options) {
  return [&program, &settings, options](server::ApiContext& served) {
    const conversation::Conversations conversations(program.presentation.conversations);
    auto routes = server::module_routes(loaded_routes(program, settings), settings, served);
    auto append = [&routes](std::vector<server::Route> more) {
      routes.insert(routes.end(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
    };
    append(langgraph::agent_server_routes(served,
                                          {.conversations = conversations, .http = settings.http}));
    append(a2a::a2a_routes(
        served,
        {.conversations = conversations, .has_tls = options.has_tls, .http = settings.http}));
    append(ag_ui::ag_ui_routes(served, {.conversations = conversations}));
    return routes;
  };
}

server::ProgramTypes types_of(const Program& program, const Definitions& graphs) {
  return {graphs, program.collections, program.tools};
}

std::vector<std::string> served_collections() {
  std::vector<std::string> names = langgraph::collections();
  for (auto* more : {a2a::collections, ag_ui::collections}) {
    for (std::string& name : more()) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace belay::cli
