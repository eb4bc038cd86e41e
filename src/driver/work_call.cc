#include "driver/work_call.h"

#include "driver/completion_timer.h"

namespace belay {
namespace {

// Whoever calls without end makes nobody look more often than this.
constexpr std::chrono::milliseconds least_between_looks{10};

}  // namespace

void WorkCall::listen(const TenantId& tenant) {
  if (!wake_up_ || listening_.contains(tenant)) return;
  listening_[tenant] = wake_up_->subscribe(tenant.text, [shared = shared_] { call(*shared); });
}

void WorkCall::call() { call(*shared_); }

void WorkCall::call(Shared& shared) {
  std::lock_guard lock(shared.mutex);
  shared.is_called = true;
  if (shared.arrival) shared.arrival->complete(Done{});
}

Task<Done> WorkCall::wait(std::chrono::milliseconds longest) {
  if (longest <= least_between_looks) {
    co_await sleep_for(longest);
    co_return Done{};
  }
  co_await sleep_for(least_between_looks);
  Completion<Done> arrival;
  {
    std::lock_guard lock(shared_->mutex);
    if (std::exchange(shared_->is_called, false)) co_return Done{};
    shared_->arrival = arrival;
  }
  Executor& executor = co_await this_executor();
  CompletionTimer timer(executor, longest - least_between_looks, arrival);
  co_await arrival;
  std::lock_guard lock(shared_->mutex);
  shared_->arrival.reset();
  shared_->is_called = false;
  co_return Done{};
}

}  // namespace belay
