#include "agents/wellbeing/wellbeing.h"

#include <utility>

namespace belay::wellbeing {

Result<Done> add_wellbeing_agents(Runtime& runtime, const WellbeingOptions& options) {
  BELAY_TRY(const auto auditor, daily_auditor(options));
  BELAY_TRY(const auto generator, routine_generator(options));
  runtime.add(auditor);
  runtime.add(generator);
  return Done{};
}

Result<std::vector<std::shared_ptr<const GraphDefinition>>> wellbeing_graphs(
    const WellbeingOptions& options) {
  BELAY_TRY(const auto auditor, daily_auditor(options));
  BELAY_TRY(const auto generator, routine_generator(options));
  return std::vector{auditor.definition(), generator.definition()};
}

Result<DailyAuditorAgent> daily_auditor_agent(AgentParts parts, const WellbeingOptions& options) {
  BELAY_TRY(auto graph, daily_auditor(options));
  return DailyAuditorAgent(std::move(parts), std::move(graph));
}

Result<RoutineGeneratorAgent> routine_generator_agent(AgentParts parts,
                                                      const WellbeingOptions& options) {
  BELAY_TRY(auto graph, routine_generator(options));
  return RoutineGeneratorAgent(std::move(parts), std::move(graph));
}

}  // namespace belay::wellbeing
