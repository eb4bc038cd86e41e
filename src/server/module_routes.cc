#include "server/module_routes.h"

#include "service/json_encode.h"

namespace belay::server {
namespace {

class ModuleCall final : public RouteCall {
 public:
  ModuleCall(ApiContext& world, const ModuleSettings& settings, Call call)
      : RouteCall(static_cast<RouteRequest&>(call)),
        world_(world),
        settings_(settings),
        call_(std::move(call)) {}

  std::string_view header(std::string_view name) const override {
    return call_.request.header(name);
  }
  const ModuleSettings& settings() const override { return settings_; }
  Clock& clock() override { return world_.parts.clock; }

  Task<Result<RunView>> start(StartRun wanted) override {
    return begun_run(world_, call_, std::move(wanted));
  }

  Task<Result<DecisionResult>> decide(InterruptId interrupt, Decision decision) override {
    Patience patience = patience_of(world_, preference_of(call_.request));
    return decided(world_, service, who, interrupt, std::move(decision), patience);
  }

  Value document(const RunView& view) const override {
    return run_document(view, world_.options.extras);
  }
  RouteReply reply(const RunView& view) const override {
    return route_reply_of(view_reply(world_, view));
  }
  std::optional<RouteReply> refusal(const DecisionResult& answer) const override {
    auto lost = lost_decision(world_, answer);
    if (!lost) return std::nullopt;
    return route_reply_of(*std::move(lost));
  }

 private:
  ApiContext& world_;
  const ModuleSettings& settings_;
  Call call_;
};

Reply reply_of(RouteReply given) {
  Reply reply;
  reply.status = given.status;
  reply.document = std::move(given.document);
  for (RouteHeader& header : given.headers) {
    reply.headers.push_back({std::move(header.name), std::move(header.value)});
  }
  reply.is_kept = given.is_kept;
  return reply;
}

// Keeps the call and the handler until the handler has ended.
Task<Result<Reply>> answer(ApiContext& world, const ModuleSettings& settings, RouteHandle handle,
                           Call call) {
  ModuleCall seen(world, settings, std::move(call));
  BELAY_CO_TRY(RouteReply reply, co_await handle(seen));
  co_return reply_of(std::move(reply));
}

std::string described(const Route& route) {
  return route.method + " " + route.path + " (" + route.id + ") of " +
         (route.module.empty() ? "every program" : "module \"" + route.module + "\"");
}

}  // namespace

RouteReply route_reply_of(Reply given) {
  RouteReply reply;
  reply.status = given.status;
  reply.document = std::move(given.document);
  for (http::Header& header : given.headers) {
    reply.headers.push_back({std::move(header.name), std::move(header.value)});
  }
  reply.is_kept = given.is_kept;
  return reply;
}

std::string place_of(const RouteSpec& route) {
  std::string place = route.method + " ";
  bool is_inside = false;
  for (char c : route.path) {
    if (c == '}') is_inside = false;
    if (!is_inside) place += c;
    if (c == '{') is_inside = true;
  }
  return place;
}

std::vector<Route> module_routes(const std::vector<ModuleRoute>& routes,
                                 const ModuleSettings& settings, ApiContext& world) {
  std::vector<Route> all;
  for (const ModuleRoute& given : routes) {
    Route route;
    static_cast<RouteSpec&>(route) = given;
    route.module = given.module;
    route.finds_run = finds_run_of_header;
    route.handle = [&world, &settings, handle = given.handle](Call call) {
      return answer(world, settings, handle, std::move(call));
    };
    all.push_back(std::move(route));
  }
  return all;
}

Result<Done> check_routes(const std::vector<Route>& routes) {
  std::map<std::string, const Route*> places, ids;
  for (const Route& route : routes) {
    auto [place, is_new_place] = places.emplace(place_of(route), &route);
    auto [id, is_new_id] = ids.emplace(route.id, &route);
    if (is_new_place && is_new_id) continue;
    const Route& before = is_new_place ? *id->second : *place->second;
    return error(ErrorCode::invalid, "Two routes have one name: " + described(before) + " and " +
                                         described(route) + ". Rename one of them.");
  }
  return Done{};
}

}  // namespace belay::server
