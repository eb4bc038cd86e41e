#pragma once
// client/run_watch.h - RunWatch: follows the events of a run on a server while a call waits for the
// run: passes progress events to an observer, and wakes the call.
//
// Threading: one executor. The constructor starts it; after the destructor, no event is reported.

#include "client/progress_events.h"
#include "client/remote_events.h"

namespace belay::client {

class RunWatch {
 public:
  // Follows `run`, or the thread's current run. Does not report commits up to `after`: they existed
  // before. Without `run`, the thread does not need to exist yet. All arguments must outlive the
  // watch.
  RunWatch(Connection& connection, Executor& executor, const ProgressObserver& observer,
           ThreadId thread, std::optional<RunId> run, std::uint64_t after);
  ~RunWatch();
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

  // Waits until an event arrives, but not longer than `at_most`.
  Task<Done> news(std::chrono::milliseconds at_most);
  // Waits until the commit has been reported, but not longer than `at_most`.
  Task<Done> reach(std::uint64_t seq, std::chrono::milliseconds at_most);

 private:
  Task<Done> watch();
  Task<Done> read(EventReader& reader);
  void take(const StreamEvent& event);

  Connection& connection_;
  Executor& executor_;
  const ProgressObserver& observer_;
  const ThreadId thread_;
  const std::optional<RunId> run_;
  const std::uint64_t after_;
  ProgressEvents progress_;
  std::uint64_t seen_ = 0;
  bool has_ended_ = false;
  Completion<Done> news_;
  Executor::TimerId timer_ = 0;
  Spawned watching_;  // last: it uses all members above
};

}  // namespace belay::client
