#pragma once
// server/reference.h - generates docs/api-reference.md, the table of routes as Markdown.

#include <string>

#include "server/route.h"

namespace belay::server {

std::string reference_text(const std::vector<Route>& routes);

}  // namespace belay::server
