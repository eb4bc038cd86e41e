#pragma once
// tests/collections/schedules.h - schedules as a module would bring them: a collection of the
// tenant, and a tick that starts a run for each time that is due.

#include <functional>
#include <memory>
#include <string>

#include "belay/collection.h"
#include "belay/runtime.h"

namespace belay::collections {

// Starts a run of `graph` every `minutes`.
struct Schedule {
  static constexpr std::string_view collection = "schedules";
  static constexpr bool is_of_tenant = true;

  std::string id;
  std::string owner;
  std::string graph;
  int minutes = 60;
  bool is_paused = false;
  Instant next{};

  std::string key() const { return id; }
  static auto indexed() { return std::tuple{&Schedule::owner}; }
  static auto ordered() {
    return std::tuple{ordered_index("due", &Schedule::is_paused, &Schedule::next)};
  }
};

struct TickReport {
  std::size_t started = 0;    // runs that this tick started
  std::size_t overtaken = 0;  // schedules that another process has moved on meanwhile
};

// Returns the input of a schedule's run, of its graph's state type.
using MakeInput = std::function<std::shared_ptr<void>(const Schedule&)>;

// Starts the runs that are due at `now`, and moves their schedules on. Any number of processes can
// tick at the same time, and each can stop at any point: a time starts one run. The run is started
// first, in a thread that is named after the schedule and the time, so that a second start finds
// it; then the schedule is saved, if it is still the one that was read.
Task<Result<TickReport>> tick(Runtime& runtime, TenantId tenant, Instant now, MakeInput input);

// Returns the name of the thread of a schedule's run.
ThreadId thread_of(const Schedule& schedule);

}  // namespace belay::collections
