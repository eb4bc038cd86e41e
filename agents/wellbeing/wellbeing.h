#pragma once
// wellbeing/wellbeing.h - registers the graphs of the wellbeing agents at a runtime, and creates
// the agents.
//
//     add_wellbeing_agents(*runtime, options).value();
//     auto auditor = daily_auditor_agent(parts, options).value();
//     auto result = co_await auditor.execute(input, config);

#include <memory>
#include <vector>

#include "agents/wellbeing/agent.h"

namespace belay::wellbeing {

// Registers both graphs at the runtime, as kDailyAuditor and kRoutineGenerator.
Result<Done> add_wellbeing_agents(Runtime& runtime, const WellbeingOptions& options);

// Returns the definitions of the graphs, for checkers and diagrams.
Result<std::vector<std::shared_ptr<const GraphDefinition>>> wellbeing_graphs(
    const WellbeingOptions& options);

Result<DailyAuditorAgent> daily_auditor_agent(AgentParts parts, const WellbeingOptions& options);
Result<RoutineGeneratorAgent> routine_generator_agent(AgentParts parts,
                                                      const WellbeingOptions& options);

}  // namespace belay::wellbeing
