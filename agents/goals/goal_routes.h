#pragma once
// goals/goal_routes.h - the routes of goals and of the steps of runs.

#include <vector>

#include "belay/route.h"

namespace belay::goals {

std::vector<ModuleRoute> goal_routes();

}  // namespace belay::goals
