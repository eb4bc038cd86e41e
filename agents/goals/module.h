#pragma once
// goals/module.h - goals as a module: the graph, records, commands, routes and displays.

#include <vector>

#include "belay/agent.h"
#include "belay/module.h"

namespace belay::goals {

// `agents`: agents that a goal can call like tools, by their names: see sub_agent().
Module module(std::vector<SubAgent> agents = {});

}  // namespace belay::goals
