#pragma once
// cli/store_diagnostics.h - looks at a store without changing anything: what belay doctor tells.

#include <optional>
#include <string>
#include <vector>

#include "belay/clock.h"
#include "belay/ids.h"

namespace belay::cli {

struct Diagnostic {
  enum class Kind { good, warning, bad };
  std::string name;  // stable: scripts look for it
  Kind kind = Kind::good;
  std::string detail;
  std::string advice;  // what to do; empty where all is well
};

// `store` is "sqlite:PATH" or "memory:".
std::vector<Diagnostic> diagnose_store(const std::string& store, Clock& clock);

// The file of a SQLite store; nothing for another kind.
std::optional<std::string> path_of_store(const std::string& store);

// The process that opened that session, as the store has noted it; nothing where it is not known.
std::optional<std::int64_t> process_of(const std::string& store, const SessionId& session);

}  // namespace belay::cli
