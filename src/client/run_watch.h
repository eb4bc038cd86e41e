#pragma once
// client/run_watch.h - watches a run on a server while somebody waits for it: tells an observer how
// it gets on, and whoever waits that there is something new.
//
// Threading: one executor. It begins with its making and ends with its end; nothing is told after
// that.

#include "client/progress_events.h"
#include "client/remote_events.h"

namespace belay::client {

class RunWatch {
 public:
  // Commits up to `after` are not told: they were there before. The thread may be yet to begin. All
  // that is handed in outlives the watch.
  RunWatch(Connection& connection, Executor& executor, const ProgressObserver& observer,
           ThreadId thread, std::uint64_t after);
  ~RunWatch();
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

  // Waits until something new is seen, or `at_most`.
  Task<Done> news(std::chrono::milliseconds at_most);
  // Waits until the commit is seen and told, or `at_most`.
  Task<Done> reach(std::uint64_t seq, std::chrono::milliseconds at_most);

 private:
  Task<Done> watch();
  Task<Done> read(EventReader& reader);
  void take(const StreamEvent& event);

  Connection& connection_;
  Executor& executor_;
  const ProgressObserver& observer_;
  const ThreadId thread_;
  const std::uint64_t after_;
  ProgressEvents progress_;
  std::uint64_t seen_ = 0;
  bool has_ended_ = false;
  Completion<Done> news_;
  Executor::TimerId timer_ = 0;
  Spawned watching_;  // last: it uses everything above
};

}  // namespace belay::client
