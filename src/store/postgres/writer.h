#pragma once
// store/postgres/writer.h - the one thread that writes: takes all the commits that wait, and makes
// them durable in one transaction, in one round trip.
//
// What can't travel with others goes alone, after them. While the server is gone, or takes no
// writes, the writer tries again, for as long as the address says it has patience: the same
// commits, which their ids make safe. Only then are they answered: `unavailable` when nothing can
// have been written, `uncertain` when a COMMIT was sent whose reply never came.
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

  // `connection` is one to begin with.
  Writer(Address address, std::unique_ptr<Connection> connection,
         std::shared_ptr<const ShutdownDeadline> haste, Clock& clock, PostgresStoreOptions options);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  // Carries out what has been pushed, as far as the server answers, then ends the thread.
  ~Writer();

  // Queues the commit; `answer` gets its outcome. REQUIRES: store::check_commit(commit).
  void push(Commit commit, Answer answer);

 private:
  struct Waiting {
    Waiting(Commit waiting_commit, Answer waiting_answer)
        : commit(std::move(waiting_commit)), answer(std::move(waiting_answer)) {}
    // Null for a commit of no run. A pending write takes its run's place in a batch.
    RunId run() const {
      if (commit.rows.run) return commit.rows.run->run;
      return commit.run_guard ? commit.run_guard->pending_for : RunId();
    }

    Commit commit;
    Answer answer;
    std::size_t place = 0;  // in its batch, as it was pushed
    bool was_sent = false;  // a reply to it was lost
  };
  using Batch = std::vector<std::unique_ptr<Waiting>>;

  // How long a server that can't serve is waited for.
  class Patience {
   public:
    explicit Patience(Writer& writer) : writer_(writer) {}
    // Waits a while; false when it is over, or the store is being closed.
    bool wait();

   private:
    Writer& writer_;
    std::optional<std::chrono::steady_clock::time_point> begun_;
    std::chrono::milliseconds pause_{20};
  };

  void serve();
  Batch take_batch();
  void commit_and_answer(Batch batch);
  // Commits the members in one transaction and answers them; who can't go with the others is left
  // in `alone`.
  void commit_many(Batch members, Batch& alone);
  // Moves those whose guard does not hold to `alone`; all of them, when nobody stands out.
  void set_apart(Batch& members, Batch& alone);
  void commit_one(Waiting& member);
  // Once; nothing has happened after an Error, unless the connection was lost.
  Result<CommitOutcome> try_one(Waiting& member);
  // After a transaction that did not come by a lock in time.
  void note_lock(Connection& connection);
  // A connection that works, as far as is known.
  Result<Connection*> connected();
  // The server gave up the last transaction in favour of another.
  bool is_given_up() const { return connection_ && connection_->is_retryable(); }
  // What those are told whom the writer has lost its patience for.
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

  // The thread's own.
  std::unique_ptr<Connection> connection_;
  std::uint64_t transactions_ = 0;

  std::thread thread_;  // last: it uses everything above
};

}  // namespace belay::postgres
