#pragma once
// store/sqlite/reader_pool.h - threads that read, each with a connection of its own, so that no
// read waits for the writer or holds up the event loop.
//
// Threading: push() from any thread.

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "belay/store.h"
#include "store/sqlite/connection.h"

namespace belay::sqlite {

class ReaderPool {
 public:
  using Answer = Completion<Result<Done>>;

  // `path` holds the current schema.
  static Result<std::unique_ptr<ReaderPool>> open(const std::string& path);
  ReaderPool() = default;  // serves nothing: use open()
  ReaderPool(const ReaderPool&) = delete;
  ReaderPool& operator=(const ReaderPool&) = delete;
  // Serves what has been pushed, then ends the threads.
  ~ReaderPool();

  // Queues the read; `answer` gets what the reader returned.
  void push(Store::Reader reader, Answer answer);

 private:
  struct Waiting {
    Store::Reader reader;
    Answer answer;
  };

  void serve(Connection& connection);

  std::vector<std::unique_ptr<Connection>> connections_;  // constant once the threads run

  std::mutex mutex_;
  std::condition_variable changed_;
  // Protected by mutex_.
  std::deque<Waiting> queue_;
  bool is_stopping_ = false;

  std::vector<std::thread> threads_;  // last: they use everything above
};

}  // namespace belay::sqlite
