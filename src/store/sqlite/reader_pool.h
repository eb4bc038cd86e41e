#pragma once
// store/sqlite/reader_pool.h - threads that read, each with a connection of its own, so that no
// read waits for the writer or holds up the event loop.
//
// Threading: push() from any thread. With `run_later` (see SqliteStoreOptions) there is no thread
// but that of the caller.

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

  // `path` holds the current schema.
  static Result<std::unique_ptr<ReaderPool>> open(const std::string& path,
                                                  RunLater run_later = nullptr);
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
  // Without a thread: the one that has waited longest.
  void serve_one();

  // Constant once the threads run.
  std::vector<std::unique_ptr<Connection>> connections_;
  RunLater run_later_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Protected by mutex_.
  std::deque<Waiting> queue_;
  bool is_stopping_ = false;

  std::shared_ptr<Done> life_ = std::make_shared<Done>();  // of what run_later still has
  std::vector<std::thread> threads_;                       // last: they use everything above
};

}  // namespace belay::sqlite
