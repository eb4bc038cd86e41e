#pragma once
// goals/module.h - goals as a module: the graph, records, commands, routes and displays.

#include "belay/module.h"

namespace belay::goals {

Module module();

}  // namespace belay::goals
