#pragma once
// agents/research/analysis/module.h - the research agent as a module.

#include <memory>

#include "agents/research/analysis/specialist_graph.h"
#include "belay/module.h"

namespace belay::research {

Module module(ResearchParts parts = {});

}  // namespace belay::research
