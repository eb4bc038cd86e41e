#pragma once
// tests/simulation/event_log.h - records the events of a simulation, one per line.

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/simulation/agenda.h"

namespace belay::simulation {

// The states of a run that faults distinguish.
enum class RunState { queued, working, calling, thinking, committing, asking, sleeping, count };
// The faults of a simulation. Those from `call_lost` on affect a single call.
enum class FaultKind {
  kill_worker,     // at any moment
  kill_in_commit,  // while it writes to its disk
  lose_reply,      // a commit is durable and its process dies before the acknowledgement
  drain_worker,    // with a drain timeout of half a minute
  stop_worker,     // immediately
  pause_worker,    // executes nothing for a while
  zombie,          // the same, and its session counts as dead meanwhile
  twin,            // a process starts with the session id of a live one
  kill_people,     // the process that starts runs and decides
  slow_disk,       // for a while
  full_disk,       // for a while
  failed_sync,     // the next one
  power_cut,       // all processes die; any part of the unsynced data can be lost
  clock_jump,      // of one process
  call_lost,       // a call of an effect does not arrive
  reply_lost,      // it arrives, and its reply does not come back
  call_refused,    // its receiver rejects it
  model_hangs,     // it never replies
  model_drips,     // it replies very late
  model_lies,      // its reply does not match the request
  model_fails,
  count
};
std::string_view name_of(RunState state);
std::string_view name_of(FaultKind fault);
// Returns the fault with this name, or nothing for an unknown name.
std::optional<FaultKind> fault_of(std::string_view name);

inline constexpr std::size_t kRunStates = static_cast<std::size_t>(RunState::count);
inline constexpr std::size_t kFaultKinds = static_cast<std::size_t>(FaultKind::count);

// Counts how often each fault has met a run in each state.
struct Coverage {
  std::array<std::array<std::uint64_t, kRunStates>, kFaultKinds> met{};
  std::array<std::uint64_t, kFaultKinds> struck{};

  void add(const Coverage& other);
  // Returns a table: faults as rows, states as columns.
  std::string table() const;
  // Returns the possible pairs that were met fewer than `times` times: "zombie x calling (3)".
  std::vector<std::string> rarer_than(std::uint64_t times) const;
};

class EventLog {
 public:
  explicit EventLog(const Agenda& agenda) : agenda_(agenda), begins_(agenda.now()) {}

  // Removes `folder` from all lines, because it differs between two executions of a seed.
  void leave_out(std::string folder) { folder_ = std::move(folder); }
  // Calls `listener` with each new line.
  void listen(std::function<void(const std::string&)> listener) { listener_ = std::move(listener); }
  void tell(ProcessId process, std::string_view what);

  std::uint64_t events() const { return events_; }
  // Returns a digest of all lines (FNV-1a, 64 bits).
  std::uint64_t digest() const { return digest_; }

 private:
  const Agenda& agenda_;
  Instant begins_;
  std::string folder_;
  std::function<void(const std::string&)> listener_;
  std::uint64_t events_ = 0;
  std::uint64_t digest_ = 14695981039346656037ULL;
};

}  // namespace belay::simulation
