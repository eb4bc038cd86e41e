#pragma once
// cli/server_agents.h - converts a server's agents to graphs that can be listed, drawn and given
// input.

#include "cli/program.h"

namespace belay::cli {

// Returns the server's agents in its order. If this program has the same version of a graph, its
// own definition is used, with types. Other definitions are built from the document, and their
// channels accept any value: the server validates it. Fails with `invalid` for an invalid document.
Result<Definitions> definitions_of(const Value::Array& documents, const Definitions& own);

}  // namespace belay::cli
