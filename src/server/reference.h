#pragma once
// server/reference.h - generates docs/api-reference.md, the table of routes as Markdown.

#include <string>

#include "server/api.h"

namespace belay::server {

std::string reference_text(const std::vector<Route>& routes, const ApiOptions& options);

}  // namespace belay::server
