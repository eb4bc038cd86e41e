#pragma once
// wellbeing/agent_routes.h - routes of the wellbeing agents.
//
//     POST /api/agents/daily-audit {"date": "1910-02-06"}      202 while it waits for a decision
//     POST /api/agents/daily-audit/{threadId}/approve {"approved": true}
//
// A failed run is a 500 with its error and the run; /api/agents/{agent}/runs returns it with 200,
// and only the run.

#include "belay/route.h"

namespace belay::wellbeing {

std::vector<ModuleRoute> agent_routes();

// The JSON Schema of their responses.
Value agent_run_schema();

}  // namespace belay::wellbeing
