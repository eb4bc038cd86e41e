#pragma once
// cli/world.h - what a verb works with. app.cc builds it, top to bottom; nothing else makes one.

#include <memory>
#include <vector>

#include "agents/wellbeing/daily_auditor.h"
#include "agents/wellbeing/routine_generator.h"
#include "belay/runtime.h"
#include "cli/output.h"
#include "cli/phrases.h"
#include "cli/progress.h"
#include "cli/settings.h"

namespace belay::cli {

// The agents of this program, as graphs that the runtime knows.
struct Agents {
  Graph<wellbeing::Audit> daily_auditor;
  Graph<wellbeing::RoutineState> routine_generator;

  std::vector<std::shared_ptr<const GraphDefinition>> definitions() const {
    return {daily_auditor.definition(), routine_generator.definition()};
  }
};

struct World {
  const Settings& settings;
  const Phrases& phrases;
  Output& output;
  Progress& progress;
  Clock& clock;
  Random& random;
  Store& store;
  Store& stored;  // what lies below `store`: as it is stored, for what looks after that
  const Sealing& sealing;
  Runtime& runtime;
  const Agents& agents;
};

inline const TenantId& tenant_of(const World&) { return default_tenant(); }

}  // namespace belay::cli
