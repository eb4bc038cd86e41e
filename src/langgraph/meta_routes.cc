// Routes about the server itself. They need no key.

#include "langgraph/errors.h"

namespace belay::langgraph {
namespace {

using server::Call;
using server::Reply;
using server::Route;

Task<Result<Reply>> show_ok(AgentServer&, Call) {
  co_return server::reply_with(Value::object({{"ok", true}}));
}

// No name of a machine or a user: anybody can read it.
Task<Result<Reply>> show_info(AgentServer& served, Call) {
  Value flags = Value::object({{"assistants", true},
                               {"crons", true},
                               {"langsmith", false},
                               {"langsmith_tracing_replicas", false}});
  co_return server::reply_with(Value::object({{"version", served.world.options.version},
                                              {"context", "belay"},
                                              {"flags", std::move(flags)},
                                              {"metadata", Value(Value::Object{})}}));
}

Route open_route(const AgentServerPointer& served, std::string path, std::string id,
                 std::string summary, Answer answer) {
  Route route = protocol_route("GET", std::move(path), std::move(id), std::move(summary));
  route.permission = Permission::open;
  route.answers = {{200, "Done"}};
  route.handle = answering(served, answer);
  return route;
}

}  // namespace

std::vector<Route> meta_routes(const AgentServerPointer& served) {
  std::vector<Route> routes;
  routes.push_back(open_route(served, "/ok", "agentServerIsOk", "The server answers", show_ok));
  routes.push_back(open_route(served, "/info", "agentServerGetInfo",
                              "Version and features of the "
                              "server",
                              show_info));
  return routes;
}

}  // namespace belay::langgraph
