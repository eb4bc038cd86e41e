#pragma once
// store/postgres/writer.h - the store's writer thread: commits the queued commits in batches.
//
// A batch is one transaction in one round trip. Commits that cannot be part of a batch follow it,
// each in its own transaction. While the server is unavailable, or accepts no writes, the writer
// retries the same commits with backoff for Address::patience; their ids make the retry safe. After
// that they fail: with `unavailable` if nothing can have been written, with `uncertain` if a COMMIT
// was sent and its reply was lost.
//
// Threading: push() from any thread.

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "belay/store.h"
#include "store/postgres/commit_batch.h"
#include "store/postgres/postgres_store.h"

namespace belay::postgres {

class Writer {
 public:
  using Answer = Completion<Result<CommitOutcome>>;

  // Uses `connection` until it is lost, then opens others to `address`.
  Writer(Address address, std::unique_ptr<Connection> connection,
         std::shared_ptr<const ShutdownDeadline> haste, Clock& clock, PostgresStoreOptions options);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  // Writes the queued commits, without a retry if the server is unavailable, then ends the thread.
  ~Writer();

  // Queues the commit and completes `answer` with its outcome; with `unavailable` if the queue is
  // full (limits::commit_queue_max). REQUIRES: store::check_commit(commit).
  void push(Commit commit, Answer answer);

 private:
  struct Waiting {
    Waiting(Commit waiting_commit, Answer waiting_answer)
        : commit(std::move(waiting_commit)), answer(std::move(waiting_answer)) {}
    // Null if the commit has no run. A pending write counts as a commit of its run.
    RunId run() const {
      if (commit.rows.run) return commit.rows.run->run;
      return commit.run_guard ? commit.run_guard->pending_for : RunId();
    }

    Commit commit;
    Answer answer;
    std::size_t place = 0;  // index in its batch, in the order of push()
    bool was_sent = false;  // its COMMIT was sent, and the reply was lost
  };
  using Batch = std::vector<std::unique_ptr<Waiting>>;

  // The backoff of retries while the server is unavailable, and their time limit.
  class Patience {
   public:
    explicit Patience(Writer& writer) : writer_(writer) {}
    // Waits before the next retry; the wait doubles up to a maximum. Returns false when the time is
    // over or the store is being closed.
    bool wait();

   private:
    Writer& writer_;
    std::optional<std::chrono::steady_clock::time_point> begun_;
    std::chrono::milliseconds pause_{20};
  };

  void serve();
  Batch take_batch();
  void commit_and_answer(Batch batch);
  // Commits the members in one transaction and completes their answers. Moves to `alone` the
  // members that cannot be committed with the others.
  void commit_many(Batch members, Batch& alone);
  // Moves to `alone` the members whose guard does not hold; all members if every guard holds.
  void set_apart(Batch& members, Batch& alone);
  void commit_one(Waiting& member);
  // One try. If it returns an Error, nothing was written, unless `member.was_sent` is set.
  Result<CommitOutcome> try_one(Waiting& member);
  // After a transaction: if it failed with lock_timeout, ends transactions of stopped processes.
  void note_lock(Connection& connection);
  // Returns a connection that is not known to be lost; opens one if necessary.
  Result<Connection*> connected();
  // The server aborted the last transaction in favour of another: 40001, 40P01.
  bool is_given_up() const { return connection_ && connection_->is_retryable(); }
  // The Error of a member that is no longer retried: `uncertain` if its COMMIT was sent.
  static Error last_word(const Waiting& member, Error why);

  const Address address_;
  const std::shared_ptr<const ShutdownDeadline> haste_;
  const PostgresStoreOptions options_;
  Clock& clock_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Protected by mutex_.
  std::deque<std::unique_ptr<Waiting>> queue_;
  bool is_stopping_ = false;

  // Used by the writer thread only.
  std::unique_ptr<Connection> connection_;
  std::uint64_t transactions_ = 0;

  std::thread thread_;  // last: it uses everything above
};

}  // namespace belay::postgres
