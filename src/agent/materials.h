#pragma once
// agent/materials.h - the materials of an agent's graph: see GraphDefinition::materials.

#include "belay/agent.h"

namespace belay::agents {

// `tools`: those of the options, and the sub-agents.
std::map<std::string, std::string> materials_of(const AgentOptions& options,
                                                const std::vector<ToolDefinition>& tools);

}  // namespace belay::agents
