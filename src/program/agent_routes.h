#pragma once
// program/agent_routes.h - what is asked of the wellbeing agents over HTTP.
//
//     POST /api/agents/daily-audit {"date": "1910-02-06"}      202 while it waits for a person
//     POST /api/agents/daily-audit/{threadId}/approve {"approved": true}
//
// An agent that failed is a 500 with its error and its run; /api/agents/{agent}/runs answers it
// with 200 and the run alone.

#include "cli/settings.h"
#include "server/routes.h"

namespace belay::program {

std::vector<server::Route> agent_routes(server::ApiContext& world, const cli::Settings& settings);

}  // namespace belay::program
