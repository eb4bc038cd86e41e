#pragma once
// driver/work_call.h - how work() waits: for its next look, or for somebody who says that there is
// something to be found.
//
// Threading: the executor's thread; it is called from any.

#include <mutex>
#include <optional>

#include "belay/hints.h"
#include "belay/task.h"

namespace belay {

class WorkCall {
 public:
  // `wake_up` may be null.
  WorkCall(WakeUp* wake_up, std::string_view queue);

  // Until it is called, and for `longest` at the most; never shorter than for a while, however
  // often it is called.
  Task<Done> wait(std::chrono::milliseconds longest);

 private:
  struct Shared {
    std::mutex mutex;
    bool is_called = false;
    std::optional<Completion<Done>> arrival;
  };

  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  Listening listening_;
};

}  // namespace belay
