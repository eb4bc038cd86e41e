#include "store/sqlite/reader_pool.h"

#include "base/start_thread.h"
#include "belay/limits.h"
#include "store/sqlite/sqlite_snapshot.h"

namespace belay::sqlite {
namespace {

constexpr int reader_threads = 2;

Result<Done> read_once(Connection& connection, const Store::Reader& reader) {
  BELAY_TRY(Statement begin, connection.prepare("BEGIN"));
  BELAY_CHECK(connection.run(std::move(begin)));
  SqliteSnapshot snapshot(connection);
  auto outcome = reader(snapshot);
  // ROLLBACK, because nothing was written. A failure has no effect.
  auto back = connection.prepare("ROLLBACK");
  if (back.ok()) (void)connection.run(*std::move(back));
  return outcome;
}

// A page that was misread stays in the connection's cache until the file changes. Therefore a read
// is repeated with an empty cache if it finds damage.
Result<Done> read(Connection& connection, const Store::Reader& reader) {
  auto outcome = read_once(connection, reader);
  if (outcome.ok() || outcome.error().code != ErrorCode::corrupt) return outcome;
  connection.drop_cache();
  return read_once(connection, reader);
}

}  // namespace

Result<std::unique_ptr<ReaderPool>> ReaderPool::open(const std::string& path, RunLater run_later) {
  auto pool = std::make_unique<ReaderPool>();
  pool->run_later_ = std::move(run_later);
  for (int i = 0; i < (pool->run_later_ ? 1 : reader_threads); ++i) {
    // Not read_only: SQLite must be able to create the shared memory of the log.
    BELAY_TRY(auto connection, Connection::open(path, Connection::Mode::read_write));
    BELAY_CHECK(connection->execute("PRAGMA query_only = ON; PRAGMA trusted_schema = OFF"));
    pool->connections_.push_back(std::move(connection));
  }
  if (pool->run_later_) return pool;
  for (auto& connection : pool->connections_) {
    pool->threads_.push_back(
        start_thread([pool = pool.get(), &connection] { pool->serve(*connection); }));
  }
  return pool;
}

ReaderPool::~ReaderPool() {
  if (run_later_) {
    while (!queue_.empty()) serve_one();
    return;
  }
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ReaderPool::push(Store::Reader reader, Answer answer) {
  {
    std::unique_lock lock(mutex_);
    if (queue_.size() < limits::commit_queue_max) {
      queue_.push_back(Waiting{std::move(reader), std::move(answer)});
      changed_.notify_one();
      lock.unlock();
      if (!run_later_) return;
      run_later_([this, life = std::weak_ptr<Done>(life_)] {
        if (!life.expired() && !queue_.empty()) serve_one();
      });
      return;
    }
  }
  answer.complete(error(ErrorCode::unavailable, "The store's queue of reads is full: " +
                                                    std::to_string(limits::commit_queue_max) +
                                                    " wait. Try again shortly."));
}

void ReaderPool::serve_one() {
  Waiting next = std::move(queue_.front());
  queue_.pop_front();
  next.answer.complete(read(*connections_.front(), next.reader));
}

void ReaderPool::serve(Connection& connection) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    {
      Waiting next = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      next.answer.complete(read(connection, next.reader));
    }
    lock.lock();
  }
}

}  // namespace belay::sqlite
