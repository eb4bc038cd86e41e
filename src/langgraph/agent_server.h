#pragma once
// langgraph/agent_server.h - the HTTP API of LangGraph's Agent Server over the service.
//
// Its clients (the LangGraph SDKs, useStream, Agent Chat UI, RemoteGraph) can use the agents of a
// Belay server: each agent is a graph and a system assistant (assistants.h), each thread is a
// thread of the service (threads.h), and each run is a run. Nothing is stored a second time, except
// what only this API has: created assistants and their versions, threads before their first run,
// the items of the store, and the settings of runs (run_records.h). These are records of the
// caller's user, which `collections()` lists.
//
// Every handler calls the service with the caller as its principal: the isolation of users and
// tenants is that of the service (belay/principal.h).
//
// Threading: handlers run on the loop's thread.

#include <memory>
#include <string>
#include <vector>

#include "belay/http.h"
#include "belay/thread.h"
#include "conversation/conversation.h"
#include "server/routes.h"

namespace belay::langgraph {

struct AgentServerOptions {
  // How states are shown as messages.
  conversation::Conversations conversations = conversation::Conversations();
  BusyThread if_busy = BusyThread::reject;  // of runs that name no multitask_strategy
  // Sends requests to webhooks; its policy decides on their addresses. Null: there are no webhooks.
  std::shared_ptr<HttpAccess> http = nullptr;
};

class CronRuns;
class RunEndings;

// The objects that handlers use. Lives as long as the routes.
struct AgentServer {
  server::ApiContext& world;
  AgentServerOptions options;
  std::shared_ptr<RunEndings> endings = nullptr;  // run_endings.h
  std::shared_ptr<CronRuns> cron_runs = nullptr;  // cron_runs.h
};

// Returns all routes of the API, for Api::OwnRoutes.
std::vector<server::Route> agent_server_routes(server::ApiContext& world,
                                               AgentServerOptions options);

// The groups of routes.
using AgentServerPointer = std::shared_ptr<AgentServer>;
std::vector<server::Route> assistant_routes(const AgentServerPointer& served);
std::vector<server::Route> thread_routes(const AgentServerPointer& served);
std::vector<server::Route> state_routes(const AgentServerPointer& served);
std::vector<server::Route> run_routes(const AgentServerPointer& served);
std::vector<server::Route> run_list_routes(const AgentServerPointer& served);
std::vector<server::Route> cron_routes(const AgentServerPointer& served);
std::vector<server::Route> store_item_routes(const AgentServerPointer& served);
std::vector<server::Route> meta_routes(const AgentServerPointer& served);

// The collections of the records of this API, for `belay check`.
std::vector<std::string> collections();

}  // namespace belay::langgraph
