#include "worker/work_signal.h"

#include "events/completion_timer.h"

namespace belay {
namespace {

// Minimum times between two polls, however often the signal is called.
constexpr std::chrono::milliseconds least_between_looks{10};
constexpr std::chrono::milliseconds least_between_urgent_looks{2};

}  // namespace

void WorkSignal::listen(const TenantId& tenant) {
  if (!wake_up_ || listening_.contains(tenant)) return;
  listening_[tenant] =
      wake_up_->subscribe(tenant.text, [shared = shared_] { call(*shared, false); });
}

void WorkSignal::call(bool is_urgent) { call(*shared_, is_urgent); }

void WorkSignal::call(Shared& shared, bool is_urgent) {
  std::lock_guard lock(shared.mutex);
  shared.is_called = true;
  shared.is_urgent = shared.is_urgent || is_urgent;
  bool is_heard = is_urgent || !shared.only_urgent;
  if (shared.arrival && is_heard) shared.arrival->complete(Done{});
}

Task<bool> WorkSignal::wait_for_call(std::chrono::milliseconds longest, bool only_urgent) {
  Completion<Done> arrival;
  {
    std::lock_guard lock(shared_->mutex);
    shared_->only_urgent = only_urgent;
    shared_->arrival = arrival;
    bool is_called = only_urgent ? shared_->is_urgent : shared_->is_called;
    if (is_called) arrival.complete(Done{});
  }
  Executor& executor = co_await this_executor();
  CompletionTimer timer(executor, longest, arrival);
  co_await arrival;
  std::lock_guard lock(shared_->mutex);
  shared_->arrival.reset();
  bool is_called = only_urgent ? shared_->is_urgent : shared_->is_called;
  if (is_called) shared_->is_called = shared_->is_urgent = false;
  co_return is_called;
}

Task<Done> WorkSignal::wait(std::chrono::milliseconds longest) {
  if (longest <= least_between_looks) {
    co_await sleep_for(longest);
    co_return Done{};
  }
  co_await sleep_for(least_between_urgent_looks);
  bool is_urgent = co_await wait_for_call(least_between_looks - least_between_urgent_looks, true);
  if (is_urgent) co_return Done{};
  (void)co_await wait_for_call(longest - least_between_looks, false);
  co_return Done{};
}

}  // namespace belay
