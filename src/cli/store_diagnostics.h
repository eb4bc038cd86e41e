#pragma once
// cli/store_diagnostics.h - Diagnostic: one check of a store, for `belay doctor`. Changes nothing.

#include <optional>
#include <string>
#include <vector>

#include "belay/clock.h"
#include "belay/ids.h"

namespace belay::cli {

struct Diagnostic {
  enum class Kind { good, warning, bad };
  std::string name;  // stable: scripts depend on it
  Kind kind = Kind::good;
  std::string detail;
  std::string advice;  // remedy; empty if `good`
};

// `store` is "sqlite:PATH" or "memory:".
std::vector<Diagnostic> diagnose_store(const std::string& store, Clock& clock);

// `days`: keys of telemetry::HeldLoopDay, oldest first. Nothing is reported without any.
std::optional<Diagnostic> held_loops_finding(const std::vector<std::string>& days);

// Returns the file of a SQLite store; nullopt for other stores.
std::optional<std::string> path_of_store(const std::string& store);

// Returns the process that opened the session, as the store has recorded it; nullopt if unknown.
std::optional<std::int64_t> process_of(const std::string& store, const SessionId& session);

}  // namespace belay::cli
