#pragma once
// worker/work_signal.h - the wait of a worker between two polls, which notifications end early.
//
// Threading: the executor's thread, except call(), which is thread-safe.

#include <map>
#include <mutex>
#include <optional>

#include "belay/hints.h"
#include "belay/ids.h"
#include "belay/task.h"

namespace belay {

class WorkSignal {
 public:
  // `wake_up` can be null: then only call() ends a wait early.
  explicit WorkSignal(WorkNotifier* wake_up) : wake_up_(wake_up) {}

  // Subscribes to the notifications of this tenant, in addition to those of other tenants.
  void listen(const TenantId& tenant);

  // Wakes the waiting worker, or the next one that waits: within 10 ms, or within 2 ms with
  // `is_urgent`. Thread-safe.
  void call(bool is_urgent = false);
  // Waits until it is called, at most `longest`; always at least the times above,
  // however often it is called.
  Task<Done> wait(std::chrono::milliseconds longest);

 private:
  struct Shared {
    std::mutex mutex;
    bool is_called = false;
    bool is_urgent = false;
    bool only_urgent = false;  // only urgent calls end the wait
    std::optional<Completion<Done>> arrival;
  };
  static void call(Shared& shared, bool is_urgent);
  // Waits until it is called or `longest` is over; true if it was called, which consumes the call.
  Task<bool> wait_for_call(std::chrono::milliseconds longest, bool only_urgent);

  WorkNotifier* wake_up_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::map<TenantId, Subscription> listening_;
};

}  // namespace belay
