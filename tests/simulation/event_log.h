#pragma once
// tests/simulation/event_log.h - what happened in a simulation, one line an event.

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/simulation/agenda.h"

namespace belay::simulation {

// How a run stands at a moment, as far as a fault may care.
enum class RunState { queued, working, calling, thinking, committing, asking, sleeping, count };
// What is done to a simulation. The last of them befall a single call.
enum class FaultKind {
  kill_worker,     // at any moment
  kill_in_commit,  // while its disk is written
  lose_reply,      // right after a commit is durable, before it is acknowledged
  drain_worker,    // asked to end, within half a minute
  stop_worker,     // asked to end immediately
  pause_worker,    // nothing of it happens for a while
  zombie,          // the same, and its session is taken for dead meanwhile
  twin,            // a process comes up with the session of one that lives
  kill_people,     // the process that starts runs and decides
  slow_disk,       // for a while
  full_disk,       // for a while
  failed_sync,     // the next one
  power_cut,       // all processes die, and of what was not synced a part may be gone
  clock_jump,      // of one process
  call_lost,       // a call of an effect does not arrive
  reply_lost,      // it arrives, and its answer does not come back
  call_refused,    // its receiver says no
  model_hangs,     // it never answers
  model_drips,     // it takes very long
  model_lies,      // it answers what it was not asked
  model_fails,
  count
};
std::string_view name_of(RunState state);
std::string_view name_of(FaultKind fault);
// The fault of this name; nothing for an unknown one.
std::optional<FaultKind> fault_of(std::string_view name);

inline constexpr std::size_t kRunStates = static_cast<std::size_t>(RunState::count);
inline constexpr std::size_t kFaultKinds = static_cast<std::size_t>(FaultKind::count);

// How often each fault has met a run in each state.
struct Coverage {
  std::array<std::array<std::uint64_t, kRunStates>, kFaultKinds> met{};
  std::array<std::uint64_t, kFaultKinds> struck{};

  void add(const Coverage& other);
  // Rows of faults, columns of states.
  std::string table() const;
  // The pairs that can be met, and were not as often: "zombie x calling (3)".
  std::vector<std::string> rarer_than(std::uint64_t times) const;
};

class EventLog {
 public:
  explicit EventLog(const Agenda& agenda) : agenda_(agenda), begins_(agenda.now()) {}

  // `folder` is left out of what is told, since it differs from play to play.
  void leave_out(std::string folder) { folder_ = std::move(folder); }
  // Is given each line as it comes.
  void listen(std::function<void(const std::string&)> listener) { listener_ = std::move(listener); }
  void tell(ProcessId process, std::string_view what);

  std::uint64_t events() const { return events_; }
  // The same for the same lines (FNV-1a, 64 bits).
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
