#include "store/postgres/transaction_retry.h"

#include <poll.h>

#include <algorithm>

namespace belay::postgres {

using std::chrono::milliseconds;

// The seed only varies the delays; the clock's low digits are random enough.
TransactionRetry::TransactionRetry(int tries_max, milliseconds pause_at_first,
                                   milliseconds pause_at_most)
    : tries_max_(tries_max),
      longest_pause_(pause_at_most),
      pause_(pause_at_first),
      random_(static_cast<std::minstd_rand::result_type>(
          std::chrono::steady_clock::now().time_since_epoch().count())) {}

bool TransactionRetry::should_retry() {
  if (++tries_ >= tries_max_) return false;
  auto most = static_cast<int>(pause_.count());
  ::poll(nullptr, 0, std::uniform_int_distribution<int>(most / 4, most)(random_));
  pause_ = std::min(2 * pause_, longest_pause_);
  return true;
}

}  // namespace belay::postgres
