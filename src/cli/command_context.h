#pragma once
// cli/command_context.h - what a verb works with. app.cc builds it, top to bottom; nothing else
// makes one.

#include "belay/runtime.h"
#include "cli/localized_text.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "service/service.h"

namespace belay::http {
class AsioLoop;
}

namespace belay::cli {

// What only a store of this process's own has.
struct LocalContext {
  Store& store;
  Store& stored;  // what lies below `store`: as it is stored, for what looks after that
  const EncryptionOptions& encryption;
  Runtime& runtime;
  http::AsioLoop* loop = nullptr;      // only for `serve`
  SharedRateLimit* starts = nullptr;   // counted across servers
  ConcurrencyLimits concurrency = {};  // that the runtime enforces
  // Returns the process of a session, if it is known.
  std::function<std::optional<std::int64_t>(const SessionId&)> process_of = {};
  // Called for each signal; set by a command that shuts down gracefully.
  std::function<void()> when_stopped = {};
};

struct CommandContext {
  const Program& program;
  const Definitions& graphs;
  const Settings& settings;
  const LocalizedText& phrases;
  Output& output;
  Progress& progress;
  Executor& executor;
  Clock& clock;
  Random& random;
  Service& service;
  LocalContext* local;  // null where a server has the runs
};

inline const TenantId& tenant_of(const CommandContext&) { return default_tenant(); }

}  // namespace belay::cli
