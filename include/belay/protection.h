#pragma once
// belay/protection.h - what keeps a run from costing too much, and a slow or broken other side from
// taking everything down: budgets, circuit breakers, limits and bounded queues.
//
// Everything here is off until it is asked for. docs/protection.md tells how the parts work
// together. Refusals are errors: `exhausted` for a budget that is spent (never tried again),
// `unavailable` with a retry_after for what is busy or broken now (a retry policy obeys it; over
// HTTP that is a 429 or 503).

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "belay/result.h"

namespace belay {

// What something costs. Money is counted in millionths of whatever unit the prices are in.
struct Cost {
  std::int64_t tokens = 0;
  std::int64_t money = 0;
  friend bool operator==(const Cost&, const Cost&) = default;
};
Cost operator+(const Cost& a, const Cost& b);
Cost operator-(const Cost& a, const Cost& b);

// What a run may cost at most (RunOptions::budget). Before a call its greatest possible cost is
// reserved, durably; after it, what it really cost takes that place. All branches of a run share
// its budget; a fork has one of its own and begins with nothing spent.
struct Budget {
  std::optional<std::int64_t> tokens = std::nullopt;
  std::optional<std::int64_t> money = std::nullopt;
  bool is_set() const { return tokens || money; }
  friend bool operator==(const Budget&, const Budget&) = default;
};

// What a run with a budget has cost so far.
struct Spending {
  Cost spent;
  // Of calls under way, and of those whose process died before their cost was known: it counts.
  Cost reserved;
  friend bool operator==(const Spending&, const Spending&) = default;
};

// How the runtime treats something that nodes depend on: a mail server, an API, the model.
struct DependencyOptions {
  // Uses of it at the same time; 0: any number. More wait, in the order in which they came.
  std::size_t concurrent = 0;
  // Uses that may wait; more are refused.
  std::size_t queue_max = 1'000;
  // Failures in a row (code `unavailable`, time-outs) that open its circuit; 0: never.
  int failures_to_open = 5;
  // How long nothing is sent to it then.
  std::chrono::milliseconds open_for{30'000};
  // After that: uses at the same time that try it out. As many successes close the circuit, one
  // failure opens it again; others wait meanwhile.
  int probes = 1;
};

// What one runtime works on at the same time, and what it lets wait in the store; 0: any number.
struct RunLimits {
  std::size_t per_tenant = 0;
  std::size_t per_user = 0;
  std::size_t per_graph = 0;  // of one tenant
  // Runs of a tenant in the store's queue.
  std::size_t queued = 0;
};

}  // namespace belay
