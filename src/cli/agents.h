#pragma once
// cli/agents.h - belay agents: the graphs of this program, without a store.

#include <memory>
#include <vector>

#include "belay/graph.h"
#include "cli/arguments.h"
#include "cli/exit_code.h"
#include "cli/output.h"

namespace belay::cli {

using Definitions = std::vector<std::shared_ptr<const GraphDefinition>>;

Result<ExitCode> list_agents(const Definitions& graphs, Output& output);
// `not_found` for a name that no graph has.
Result<ExitCode> show_agent(const Definitions& graphs, const AgentsShow& wanted, Output& output);
Result<ExitCode> draw_agent(const Definitions& graphs, const AgentsGraph& wanted, Output& output);

}  // namespace belay::cli
