#pragma once
// tests/conformance/graphs/module.h - a module with the graphs that suites for servers of LangGraph
// expect, and a route that empties the store for them.
//
// `belay serve --graphs conformance` loads it; nothing else does. The graphs need no model: one of
// them streams its texts itself.

#include <string>
#include <vector>

#include "belay/module.h"

namespace belay::conformance {

// `collections`: those whose records POST /internal/truncate deletes.
Module module(std::vector<std::string> collections = {});

}  // namespace belay::conformance
