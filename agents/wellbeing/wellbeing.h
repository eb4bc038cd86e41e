#pragma once
// wellbeing/wellbeing.h - what a program needs to have the wellbeing agents: their graphs, made
// known to a runtime, and how they are called.
//
//     add_wellbeing_agents(*runtime, options).value();
//     auto auditor = daily_auditor_agent(parts, options).value();
//     auto result = co_await auditor.execute(input, config);

#include <memory>
#include <vector>

#include "agents/wellbeing/agent.h"

namespace belay::wellbeing {

// Makes both graphs known to the runtime, under kDailyAuditor and kRoutineGenerator.
Result<Done> add_wellbeing_agents(Runtime& runtime, const WellbeingOptions& options);

// The graphs as checkers and painters want them.
Result<std::vector<std::shared_ptr<const GraphDefinition>>> wellbeing_graphs(
    const WellbeingOptions& options);

Result<DailyAuditorAgent> daily_auditor_agent(AgentParts parts, const WellbeingOptions& options);
Result<RoutineGeneratorAgent> routine_generator_agent(AgentParts parts,
                                                      const WellbeingOptions& options);

}  // namespace belay::wellbeing
