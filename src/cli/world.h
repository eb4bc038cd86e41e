#pragma once
// cli/world.h - what a verb works with. app.cc builds it, top to bottom; nothing else makes one.

#include "belay/runtime.h"
#include "cli/output.h"
#include "cli/phrases.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "service/service.h"

namespace belay::http {
class AsioLoop;
}

namespace belay::cli {

// What only a store of this process's own has.
struct LocalWorld {
  Store& store;
  Store& stored;  // what lies below `store`: as it is stored, for what looks after that
  const Sealing& sealing;
  Runtime& runtime;
  http::AsioLoop* loop = nullptr;  // of `serve` alone
  SharedLimit* starts = nullptr;   // counted with other servers
  PlaceLimits places = {};         // that the runtime keeps to
  // The process of a session, where that is known.
  std::function<std::optional<std::int64_t>(const SessionId&)> process_of = {};
  // For each signal; set by a verb that ends in its own time.
  std::function<void()> when_stopped = {};
};

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
  Service& service;
  LocalWorld* local;  // null where a server has the runs
};

inline const TenantId& tenant_of(const World&) { return default_tenant(); }

}  // namespace belay::cli
