#pragma once
// store/postgres/reader_pool.h - threads that read, each with a connection of its own, so that no
// read waits for the writer or holds up the event loop.
//
// A thread is started when a read finds all others at work, up to the address' pool; it connects
// when it first reads, and again when its connection was lost, or has come to a server that takes
// no writes. A read that was interrupted so, or given up by the server in favour of another
// transaction, is run again from its start until the address' patience is over.
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
  // Serves what has been pushed, as far as there are connections still, then ends the threads.
  ~ReaderPool();

  // Queues the read; `answer` gets what the reader returned.
  void push(Store::Reader reader, Answer answer);
  // Queues a claim: see Store::claim(). What is offered is in `offered` then.
  void push_claim(PollFilter filter, std::shared_ptr<std::vector<RunRow>> offered, Answer answer);

 private:
  struct Claim {
    PollFilter filter;
    std::shared_ptr<std::vector<RunRow>> offered;
  };
  struct Waiting {
    Store::Reader reader;
    Answer answer;
    std::optional<Claim> claim = std::nullopt;  // in place of the reader
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
  // False when the pool is being closed.
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
