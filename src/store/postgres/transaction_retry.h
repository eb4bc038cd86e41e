#pragma once
// store/postgres/transaction_retry.h - a transaction that the server gave up in favour of another
// one (40001, 40P01) is carried out again, a few times, whatever patience there is: the server
// works, and of the two one has gone through.
//
// Threading: one thread at a time.

#include <chrono>
#include <random>

#include "store/postgres/connection.h"

namespace belay::postgres {

class TransactionRetry {
 public:
  explicit TransactionRetry(
      int tries_max = 8, std::chrono::milliseconds pause_at_first = std::chrono::milliseconds(5),
      std::chrono::milliseconds pause_at_most = std::chrono::milliseconds(100));

  // After a try that came to nothing: false when there were enough. Else a while has passed, at
  // random, so that those who gave way to one another do not meet again.
  bool should_retry();
  int tries() const { return tries_; }

 private:
  const int tries_max_;
  const std::chrono::milliseconds longest_pause_;
  std::chrono::milliseconds pause_;
  int tries_ = 0;
  std::minstd_rand random_;
};

// What the last try of the transaction came to. Each asks the server on that connection, and leaves
// no block behind.
template <typename Transaction>
auto with_retry(const Connection& connection, Transaction transaction) {
  TransactionRetry repetition;
  while (true) {
    auto outcome = transaction();
    bool is_given_up = !outcome.ok() && connection.is_retryable();
    if (!is_given_up || !repetition.should_retry()) return outcome;
  }
}

}  // namespace belay::postgres
