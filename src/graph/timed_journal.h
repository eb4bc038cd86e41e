#pragma once
// graph/timed_journal.h - the journal of an attempt that a process executes, with its clock.

#include "belay/context.h"

namespace belay {

class TimedJournal : public Journal {
 public:
  // Only for durations that are displayed: an attempt must not depend on it.
  virtual Instant present() const = 0;
};

}  // namespace belay
