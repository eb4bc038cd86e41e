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

  // Has whoever waits look, or whoever waits next. From any thread.
  void call();
  // Until it is called, and for `longest` at the most; never shorter than for a while, however
  // often it is called.
  Task<Done> wait(std::chrono::milliseconds longest);

 private:
  struct Shared {
    std::mutex mutex;
    bool is_called = false;
    std::optional<Completion<Done>> arrival;
  };
  static void call(Shared& shared);

  WakeUp* wake_up_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::map<TenantId, Listening> listening_;
};

}  // namespace belay
