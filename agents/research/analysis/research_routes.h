#pragma once
// agents/research/analysis/research_routes.h - the routes of analyses. Schemas of their documents:
// research_schemas().

#include <vector>

#include "belay/route.h"

namespace belay::research {

std::vector<ModuleRoute> research_routes();

}  // namespace belay::research
