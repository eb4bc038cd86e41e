#pragma once
// store/sqlite/reader_pool.h - a pool of reader threads, each with its own connection.
//
// Reads therefore neither wait for the writer nor block the event loop.
//
// Threading: push() from any thread. With `run_later` (see SqliteStoreOptions) the pool has no
// threads; everything runs on the thread of the caller.

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

  using RunLater = std::function<void(std::function<void()>)>;

  // REQUIRES: the file at `path` has the current schema.
  static Result<std::unique_ptr<ReaderPool>> open(const std::string& path,
                                                  RunLater run_later = nullptr);
  ReaderPool() = default;  // for open(), which sets up the pool
  ReaderPool(const ReaderPool&) = delete;
  ReaderPool& operator=(const ReaderPool&) = delete;
  // Executes the queued reads, then ends the threads.
  ~ReaderPool();

  // Queues the read; completes `answer` with the result of the reader.
  void push(Store::Reader reader, Answer answer);

 private:
  struct Waiting {
    Store::Reader reader;
    Answer answer;
  };

  void serve(Connection& connection);
  // With run_later: executes the oldest queued read.
  void serve_one();

  // Constant once the threads run.
  std::vector<std::unique_ptr<Connection>> connections_;
  RunLater run_later_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Protected by mutex_.
  std::deque<Waiting> queue_;
  bool is_stopping_ = false;

  std::shared_ptr<Done> life_ = std::make_shared<Done>();  // expires for work scheduled later
  std::vector<std::thread> threads_;                       // last: they use everything above
};

}  // namespace belay::sqlite
