#pragma once
// mcp/pins.h - the pin of a tool: the digests of the parts that a model, or the guarantees of a
// call, depend on. Pure.

#include "belay/mcp.h"

namespace belay::mcp {

ToolPin pin_of(const ToolInfo& tool);

// SHA-256 of the command or the URL, in hex.
std::string identity_of(const ServerOptions& server);

}  // namespace belay::mcp
