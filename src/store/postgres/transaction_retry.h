#pragma once
// store/postgres/transaction_retry.h - retries transactions that the server aborted in favour of
// another one (40001, 40P01).
//
// The number of tries is limited, independently of Address::patience: the server is available, and
// the other transaction has made progress.
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

  // Call after an aborted try. Returns false after `tries_max` tries; otherwise blocks for a random
  // time, so that two transactions that aborted each other do not collide again, and returns true.
  bool should_retry();
  int tries() const { return tries_; }

 private:
  const int tries_max_;
  const std::chrono::milliseconds longest_pause_;
  std::chrono::milliseconds pause_;
  int tries_ = 0;
  std::minstd_rand random_;
};

// Returns the result of the last try. `transaction` uses `connection` and must leave no transaction
// block open.
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
