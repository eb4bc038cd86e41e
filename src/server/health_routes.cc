// Health checks, for users, load balancers and process supervisors.

#include "server/problem.h"
#include "server/routes.h"

namespace belay::server {
namespace {

// Callers check every few seconds; no response in time is also an answer to them.
constexpr std::chrono::seconds kReadyWithin{1};

Error silent() { return error(ErrorCode::unavailable, "Its store has not responded for 1 s."); }

Task<Result<Done>> look_and_note(ApiContext& world, std::shared_ptr<bool> has_ended) {
  auto look = world.options.readiness();
  auto found = co_await look;
  *has_ended = true;
  co_return found;
}

// Only one check at a time waits for an unresponsive store.
Task<Result<Done>> readiness(ApiContext& world) {
  if (!world.options.readiness) co_return Done{};
  if (world.late_look && !*world.late_look) co_return silent();
  auto has_ended = std::make_shared<bool>(false);
  auto look = look_and_note(world, has_ended);
  auto found = co_await world.waiting.at_most(kReadyWithin, std::move(look));
  if (found) co_return *std::move(found);
  world.late_look = has_ended;
  co_return silent();
}

Route health(std::string path, std::string id, ApiContext& world) {
  Route route = route_of("GET", std::move(path), std::move(id), "Health of the server");
  route.permission = Permission::open;
  route.answers = {{200, "It accepts work", "Health"}, {503, "It accepts no work", "Health"}};
  route.handle = with(world, [](ApiContext& served, Call) -> Task<Result<Reply>> {
    Reply reply;
    auto found = co_await readiness(served);
    reply.status = found.ok() ? 200 : 503;
    Value::Object health{{"status", found.ok() ? "ok" : "unavailable"},
                         {"version", served.options.version}};
    if (!found.ok()) {
      reply.headers.push_back({"Retry-After", "1"});
      health.emplace("reason", found.error().message);
    }
    reply.document = Value(std::move(health));
    co_return std::move(reply);
  });
  return route;
}

// Returns 200 if the process responds at all.
Route alive() {
  Route route = route_of("GET", "/healthz", "isAlive", "Liveness of the process");
  route.permission = Permission::open;
  route.answers = {{200, "The process responds", "Health"}};
  route.handle = [](Call) -> Task<Result<Reply>> {
    co_return reply_with(Value::object({{"status", "ok"}}));
  };
  return route;
}

}  // namespace

std::vector<Route> health_routes(ApiContext& world) {
  std::vector<Route> routes;
  routes.push_back(alive());
  routes.push_back(health("/readyz", "isReady", world));
  routes.push_back(health("/api/health", "getHealth", world));
  routes.push_back(health("/api/agents/health", "getAgentsHealth", world));
  return routes;
}

}  // namespace belay::server
