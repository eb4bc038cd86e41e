#pragma once
// client/progress_events.h - what a run tells in its events, as a runtime would tell it while the
// run goes on: so that a client shows the same lines wherever the run is.

#include <map>

#include "belay/runtime.h"

namespace belay::client {

class ProgressEvents {
 public:
  // The kinds that take() needs.
  static std::vector<EventKind> kinds();

  // What to tell of the next event of the run, if anything.
  std::optional<ProgressEvent> take(const StreamEvent& event);

 private:
  ProgressEvent told(ProgressEvent::Kind kind, const StreamEvent& event) const;
  std::optional<ProgressEvent> take_task(const StreamEvent& event);
  std::optional<ProgressEvent> take_checkpoint(const StreamEvent& event);

  Instant last_at_{};     // of the commit before
  int attempt_ = 1;       // of the node that was last begun
  std::string failure_;   // of the last attempt that failed
  Instant due_{};         // of the next one
  std::string question_;  // of the commit that comes next
  std::uint64_t asked_seq_ = 0;
};

}  // namespace belay::client
