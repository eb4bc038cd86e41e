#pragma once
// client/progress_events.h - ProgressEvents: derives the progress events of a run from its stored
// events.
//
// A client therefore prints the same lines for runs on a server as for runs in its own process.

#include <map>

#include "belay/runtime.h"

namespace belay::client {

class ProgressEvents {
 public:
  // Returns the kinds that take() needs.
  static std::vector<EventKind> kinds();

  // Returns the progress event for the run's next event, if there is one.
  std::optional<ProgressEvent> take(const StreamEvent& event);

 private:
  ProgressEvent told(ProgressEvent::Kind kind, const StreamEvent& event) const;
  std::optional<ProgressEvent> take_task(const StreamEvent& event);
  std::optional<ProgressEvent> take_checkpoint(const StreamEvent& event);

  Instant last_at_{};     // of the previous commit
  int attempt_ = 1;       // of the node that started last
  std::string failure_;   // of the last failed attempt
  Instant due_{};         // of the next attempt
  std::string question_;  // of the next commit
  std::uint64_t asked_seq_ = 0;
};

}  // namespace belay::client
