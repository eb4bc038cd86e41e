// Whether the server is well: for people, for load balancers, for whoever restarts it.

#include "server/problem.h"
#include "server/routes.h"

namespace belay::server {
namespace {

bool is_ready(const World& world) { return !world.options.is_ready || world.options.is_ready(); }

Route health(std::string path, std::string id, World& world) {
  Route route = route_of("GET", std::move(path), std::move(id), "Whether it is well");
  route.permission = Permission::open;
  route.answers = {{200, "It takes work", "Health"}, {503, "It takes none", "Health"}};
  route.handle = with(world, [](World& served, Call) -> Task<Result<Reply>> {
    Reply reply;
    bool ready = is_ready(served);
    reply.status = ready ? 200 : 503;
    if (!ready) reply.headers.push_back({"Retry-After", "1"});
    reply.document = Value::object(
        {{"status", ready ? "ok" : "unavailable"}, {"version", served.options.version}});
    co_return std::move(reply);
  });
  return route;
}

// That the process answers at all.
Route alive() {
  Route route = route_of("GET", "/healthz", "isAlive", "Whether the process answers");
  route.permission = Permission::open;
  route.answers = {{200, "It does", "Health"}};
  route.handle = [](Call) -> Task<Result<Reply>> {
    co_return reply_with(Value::object({{"status", "ok"}}));
  };
  return route;
}

}  // namespace

std::vector<Route> health_routes(World& world) {
  std::vector<Route> routes;
  routes.push_back(alive());
  routes.push_back(health("/readyz", "isReady", world));
  routes.push_back(health("/api/health", "getHealth", world));
  routes.push_back(health("/api/agents/health", "getAgentsHealth", world));
  return routes;
}

}  // namespace belay::server
