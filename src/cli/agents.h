#pragma once
// cli/agents.h - `belay agents`: lists, shows and draws the graphs of a program, without a store.

#include "cli/arguments.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/program.h"

namespace belay::cli {

Result<ExitCode> list_agents(const Definitions& graphs, Output& output);
// `not_found` if no graph has the name.
Result<ExitCode> show_agent(const Definitions& graphs, const AgentsShow& wanted, Output& output);
Result<ExitCode> draw_agent(const Definitions& graphs, const AgentsGraph& wanted, Output& output);

}  // namespace belay::cli
