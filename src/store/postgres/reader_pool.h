#pragma once
// store/postgres/reader_pool.h - a pool of reader threads, each with its own connection.
//
// Reads therefore wait neither for the writer nor block the event loop. A thread starts when a read
// finds all others busy, up to Address::pool. It connects at its first read, and again after its
// connection was lost or its server accepts no writes any more. If this interrupts a read, or if
// the server aborts it in favour of another transaction, the read is retried from its start until
// Address::patience has passed.
//
// Threading: push() from any thread.

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "belay/store.h"
#include "store/postgres/connection.h"

namespace belay::postgres {

class ReaderPool {
 public:
  using Answer = Completion<Result<Done>>;

  ReaderPool(Address address, std::shared_ptr<const ShutdownDeadline> haste)
      : address_(std::move(address)), haste_(std::move(haste)) {}
  ReaderPool(const ReaderPool&) = delete;
  ReaderPool& operator=(const ReaderPool&) = delete;
  // Executes the queued reads on the existing connections, then ends the threads.
  ~ReaderPool();

  // Queues the read; completes `answer` with the result of the reader.
  void push(Store::Reader reader, Answer answer);
  // Queues a poll (Store::poll_runs()); stores the candidates in `offered` before `answer`.
  void push_claim(PollFilter filter, std::shared_ptr<std::vector<RunRow>> offered, Answer answer);

 private:
  struct Claim {
    PollFilter filter;
    std::shared_ptr<std::vector<RunRow>> offered;
  };
  struct Waiting {
    Store::Reader reader;
    Answer answer;
    std::optional<Claim> claim = std::nullopt;  // if set, `reader` is not used
    std::chrono::steady_clock::time_point pushed_at = std::chrono::steady_clock::now();
  };
  struct Attempt {
    Result<Done> outcome;
    bool is_retryable = false;
  };

  void serve();
  void push(Waiting waiting);
  Result<Done> read(std::unique_ptr<Connection>& connection, const Waiting& waiting);
  Attempt read_once(std::unique_ptr<Connection>& connection, const Waiting& waiting);
  Result<Done> give_back(Connection& connection, const PollFilter& filter);
  Attempt poll_once(Connection& connection, const Claim& claim);
  Result<Done> connect(std::unique_ptr<Connection>& connection);
  // Waits; returns false if the pool is being closed.
  bool pause(std::chrono::milliseconds time);

  const Address address_;
  const std::shared_ptr<const ShutdownDeadline> haste_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable stopping_;
  // Protected by mutex_.
  std::deque<Waiting> queue_;
  std::size_t idle_ = 0;  // threads that wait for work
  bool is_stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace belay::postgres
