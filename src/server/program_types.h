#pragma once
// server/program_types.h - the types of a program in the description of the API: the inputs, states
// and approvals of its agents, the records of its collections, and the arguments of its tools.
//
// All of them are those of the program's current version: a run of an earlier version can have
// another state, as docs/api.md explains.

#include <map>
#include <string>
#include <vector>

#include "belay/module.h"
#include "server/route.h"

namespace belay::server {

struct ProgramTypes {
  Definitions graphs = {};  // of graphs with one name, the first one is described: it is started
  std::vector<RecordCollection> collections = {};
  std::vector<Tool> tools = {};
};

// Adds the schemas of the types to `schemas`, and makes the general schemas of runs and approvals
// refer to them.
void add_types(const ProgramTypes& types, const std::vector<Route>& routes, Value::Object& schemas);

// Returns the routes with one that is described for each agent that can be started and for each
// collection: "POST /api/agents/letters/runs", which "POST /api/agents/{agent}/runs" serves.
std::vector<Route> typed_routes(const ProgramTypes& types, std::vector<Route> routes);

}  // namespace belay::server
