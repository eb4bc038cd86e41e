#pragma once
// cli/command_context.h - CommandContext: the objects that a command uses. Only app.cc creates one,
// member by member.

#include "belay/runtime.h"
#include "belay/service.h"
#include "cli/localized_text.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/settings.h"

namespace belay::http {
class AsioLoop;
}

namespace belay::cli {

class RemoteRuns;

// Objects that exist only if this process has opened the store itself, not with --server.
struct LocalContext {
  Store& store;
  Store& stored;  // below `store`: without encryption and caches
  const EncryptionOptions& encryption;
  Runtime& runtime;
  http::AsioLoop* loop = nullptr;     // set only for `serve`
  SharedRateLimit* starts = nullptr;  // counts for all servers of a Redis
  Telemetry telemetry = {};
  ConcurrencyLimits concurrency = {};  // those that the runtime enforces
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
  Principal who;                 // for each call of the service: a local program
  LocalContext* local;           // null if a server has the runs
  RemoteRuns* remote = nullptr;  // the connection to that server
};

}  // namespace belay::cli
