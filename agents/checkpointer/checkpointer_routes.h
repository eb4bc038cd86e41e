#pragma once
// agents/checkpointer/checkpointer_routes.h - the routes of the LangGraph checkpointer:
// /api/langgraph/...

#include <vector>

#include "belay/route.h"

namespace belay::checkpointer {

// Names are members of the bodies: they can contain any text and be long.
std::vector<ModuleRoute> checkpointer_routes();

}  // namespace belay::checkpointer
