#pragma once
// store/sqlite/writer.h - the one thread that writes: takes all the commits that wait, and makes
// them durable in one transaction.
//
// A batch holds at most one commit of a run and touches runs in the order of their ids. When a
// commit can't be carried out, the transaction is rolled back, the others go again without it, and
// it is tried once more alone: it harms nobody else. (A savepoint a commit would do the same, but
// SQLite then copies every page that a commit touches, guilty or not.) Nobody is answered before
// COMMIT has returned.
//
// After a COMMIT whose outcome is unclear (a failed fsync), no further commit is acknowledged: data
// still in the kernel might never reach the disk, and a second attempt would not detect that. The
// same holds once the path leads to another file: processes that open it from then on would never
// see the commits made here.
//
// Threading: push() and perform() from any thread. With SqliteStoreOptions::run_later there is no
// thread but that of the caller.

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "store/sqlite/commit_writer.h"
#include "store/sqlite/sqlite_store.h"
#include "store/sqlite/store_path.h"

namespace belay::sqlite {

class Writer {
 public:
  using Answer = Completion<Result<CommitOutcome>>;
  using Job = std::function<Result<Done>(Connection&)>;

  Writer(std::string path, std::unique_ptr<Connection> connection, Clock& clock,
         SqliteStoreOptions options);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  // Carries out what has been pushed, then ends the thread.
  ~Writer();

  // Queues the commit; `answer` gets its outcome. REQUIRES: store::check_commit(commit).
  void push(Commit commit, Answer answer);
  // Runs a job in a transaction of its own, and waits for it.
  Result<Done> perform(Job job);
  // From any thread.
  bool is_lost() const { return has_unknown_commit_; }

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
    CommitOutcome outcome = CommitOutcome::applied;
  };
  using Batch = std::vector<std::unique_ptr<Waiting>>;
  struct WaitingJob {
    Job job;
    std::optional<Result<Done>> outcome;
  };

  void serve();
  // Without a thread: what waits, at the time that run_later has chosen.
  void serve_later();
  void serve_one_batch(std::unique_lock<std::mutex>& lock);
  void serve_jobs(std::unique_lock<std::mutex>& lock);
  Batch take_batch();
  // Carries the commits out, together but for the guilty ones, and answers them.
  void commit_and_answer(Batch batch);
  // On an Error `blamed` is the member that was being written, if one was.
  Result<Done> commit_together(Batch& batch, std::size_t& blamed);
  // Begins, calls `body`, commits; when anything fails, nothing has happened, or is_lost_.
  Result<Done> transact(const std::function<Result<Done>()>& body);
  Error failed_commit();
  // Fails if the path no longer leads to the open file; after that, no commit is accepted.
  Result<Done> check_file();
  // Moves the write-ahead log into the file, once it is worth it.
  void checkpoint_wal(bool is_idle);

  const std::string path_;
  const std::optional<FileId> file_;
  const SqliteStoreOptions options_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable job_done_;
  // Protected by mutex_.
  std::deque<std::unique_ptr<Waiting>> queue_;
  std::deque<WaitingJob*> jobs_;
  bool is_stopping_ = false;
  bool is_asked_ = false;  // with run_later: it has work to do, and has not called it yet

  // The thread's own.
  std::unique_ptr<Connection> connection_;
  CommitWriter commits_;
  std::uint64_t transactions_ = 0;
  int log_pages_ = 0;
  std::string lost_why_;                          // the reason given to every later commit
  std::atomic<bool> has_unknown_commit_ = false;  // after an unclear COMMIT, or if the file is gone

  std::shared_ptr<Done> life_ = std::make_shared<Done>();  // of what run_later still has
  std::thread thread_;                                     // last: it uses everything above
};

}  // namespace belay::sqlite
