#pragma once
// agents/checkpointer/module.h - the LangGraph checkpointer as a module of a program: collections
// and routes for the npm package @belay/langgraph-checkpoint (clients/js/checkpoint).

#include "belay/module.h"

namespace belay::checkpointer {

Module module();

}  // namespace belay::checkpointer
