#include "langgraph/agent_server.h"

#include "langgraph/assistants.h"
#include "langgraph/cron_records.h"
#include "langgraph/cron_runs.h"
#include "langgraph/run_endings.h"
#include "langgraph/run_records.h"
#include "langgraph/store_items.h"
#include "langgraph/threads.h"
#include "langgraph/v2_routes.h"

namespace belay::langgraph {

std::vector<server::Route> agent_server_routes(server::ApiContext& world,
                                               AgentServerOptions options) {
  auto served = std::make_shared<AgentServer>(AgentServer{world, std::move(options)});
  served->endings = std::make_shared<RunEndings>(*served, served->options.http);
  served->endings->start();
  served->cron_runs = std::make_shared<CronRuns>(served->world, *served->endings);
  served->cron_runs->start();
  std::vector<server::Route> all;
  for (auto* make : {assistant_routes, thread_routes, state_routes, run_routes, run_list_routes,
                     cron_routes, store_item_routes, meta_routes, v2_routes}) {
    for (server::Route& route : make(served)) all.push_back(std::move(route));
  }
  return all;
}

std::vector<std::string> collections() {
  std::vector<std::string> names;
  for (std::string_view name :
       {AssistantRecord::collection, AssistantVersionRecord::collection, ThreadRecord::collection,
        RunRecord::collection, RunOwner::collection, RunEnding::collection, CronRecord::collection,
        CronWatch::collection, StoreItemRecord::collection}) {
    names.emplace_back(name);
  }
  return names;
}

}  // namespace belay::langgraph
