#pragma once
// cli/world.h - what a verb works with. app.cc builds it, top to bottom; nothing else makes one.

#include "belay/runtime.h"
#include "cli/output.h"
#include "cli/phrases.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/settings.h"

namespace belay::cli {

struct World {
  const Program& program;
  const Definitions& graphs;
  const Settings& settings;
  const Phrases& phrases;
  Output& output;
  Progress& progress;
  Executor& executor;
  Clock& clock;
  Random& random;
  Store& store;
  Store& stored;  // what lies below `store`: as it is stored, for what looks after that
  const Sealing& sealing;
  Runtime& runtime;
};

inline const TenantId& tenant_of(const World&) { return default_tenant(); }

}  // namespace belay::cli
