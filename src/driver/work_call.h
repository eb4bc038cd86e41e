#pragma once
// driver/work_call.h - how work() waits: for its next look, or for somebody who says that there is
// something to be found.
//
// Threading: the executor's thread; it is called from any.

#include <map>
#include <mutex>
#include <optional>

#include "belay/hints.h"
#include "belay/ids.h"
#include "belay/task.h"

namespace belay {

class WorkCall {
 public:
  // `wake_up` may be null.
  explicit WorkCall(WakeUp* wake_up) : wake_up_(wake_up) {}

  // Is called for what there is to do for this tenant too, from now on.
  void listen(const TenantId& tenant);

  // Has whoever waits look, or whoever waits next: within 10 ms, or with `is_urgent` within 2 ms.
  // From any thread.
  void call(bool is_urgent = false);
  // Until it is called, and for `longest` at the most; never shorter than for those times, however
  // often it is called.
  Task<Done> wait(std::chrono::milliseconds longest);

 private:
  struct Shared {
    std::mutex mutex;
    bool is_called = false;
    bool is_urgent = false;
    bool only_urgent = false;  // calls count that end the wait
    std::optional<Completion<Done>> arrival;
  };
  static void call(Shared& shared, bool is_urgent);
  // Until it is called, or `longest` is over; whether it was called. The call counts as heard.
  Task<bool> wait_for_call(std::chrono::milliseconds longest, bool only_urgent);

  WakeUp* wake_up_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::map<TenantId, Listening> listening_;
};

}  // namespace belay
