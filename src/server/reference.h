#pragma once
// server/reference.h - the table of routes as Markdown, for people: docs/api-reference.md.

#include <string>

#include "server/route.h"

namespace belay::server {

std::string reference_text(const std::vector<Route>& routes);

}  // namespace belay::server
