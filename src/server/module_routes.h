#pragma once
// server/module_routes.h - the routes of modules (belay/route.h) in the table of routes.

#include "server/routes.h"

namespace belay::server {

// Returns the routes. The context and the settings must outlive them.
std::vector<Route> module_routes(const std::vector<ModuleRoute>& routes,
                                 const ModuleSettings& settings, ApiContext& world);

// Returns the method and the path with anonymous parameters, "GET /api/notes/{}" for
// "/api/notes/{key}": two routes of one place accept the same requests.
std::string place_of(const RouteSpec& route);

// Fails with `invalid`, naming both, if two routes have the same method and path, apart from the
// names of parameters, or the same id.
Result<Done> check_routes(const std::vector<Route>& routes);

}  // namespace belay::server
