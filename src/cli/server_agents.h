#pragma once
// cli/server_agents.h - the agents of a server, as graphs that can be listed, drawn and given
// input.

#include "cli/program.h"

namespace belay::cli {

// A server's agents in its order. One that this program has in the same version is its own, types
// and all; another one is as its document tells, with channels that take anything: what does not
// fit is for the server to say. `invalid` for a document that can't be read.
Result<Definitions> definitions_of(const Value::Array& documents, const Definitions& own);

}  // namespace belay::cli
