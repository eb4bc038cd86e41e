#include "belay/thread.h"

#include "store/enum_names.h"

namespace belay {

std::string_view name_of(BusyThread busy) { return store::enum_name(busy); }
std::optional<BusyThread> busy_thread_named(std::string_view name) {
  return store::enum_named<BusyThread>(name);
}
std::string_view name_of(ThreadStatus status) { return store::enum_name(status); }

ThreadStatus thread_status(const RunRow& current) {
  switch (current.status) {
    case RunStatus::queued:
    case RunStatus::running:
      return ThreadStatus::busy;
    case RunStatus::paused:
      return pause_reason(current) == PauseReason::timer ? ThreadStatus::busy
                                                         : ThreadStatus::interrupted;
    case RunStatus::failed:
    case RunStatus::quarantined:
      return ThreadStatus::error;
    case RunStatus::completed:
    case RunStatus::cancelled:
      break;
  }
  return ThreadStatus::idle;
}

}  // namespace belay
