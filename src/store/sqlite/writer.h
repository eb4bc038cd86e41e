#pragma once
// store/sqlite/writer.h - the store's writer thread: commits the queued commits in batches.
//
// A batch is one transaction. It contains at most one commit per run and updates runs in the order
// of their ids. If a commit fails, the transaction is rolled back, the other commits are retried
// without it, and the failed commit is retried alone: it does not affect the others. (A savepoint
// per commit would have the same effect, but SQLite then copies every page that a commit changes,
// also if no commit fails.) A commit is acknowledged only after COMMIT has returned.
//
// If the outcome of a COMMIT is unknown (a failed fsync), no further commit is acknowledged: data
// in the kernel's cache might never reach the disk, and a retry would not detect that. The same
// applies when the path leads to another file: processes that open it afterwards would never see
// the commits made here.
//
// Threading: push() and perform() from any thread. With SqliteStoreOptions::run_later the writer
// has no thread; everything runs on the thread of the caller.

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
  // Writes the queued commits, then ends the thread.
  ~Writer();

  // Queues the commit and completes `answer` with its outcome; with `unavailable` if the queue is
  // full (limits::commit_queue_max). REQUIRES: store::check_commit(commit).
  void push(Commit commit, Answer answer);
  // Runs a job in its own transaction and waits for its end.
  Result<Done> perform(Job job);
  // True when the writer rejects all commits (see the top). From any thread.
  bool is_lost() const { return has_unknown_commit_; }

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
    CommitOutcome outcome = CommitOutcome::applied;
  };
  using Batch = std::vector<std::unique_ptr<Waiting>>;
  struct WaitingJob {
    Job job;
    std::optional<Result<Done>> outcome;
  };

  void serve();
  // With run_later: schedules batches until the queue is empty.
  void serve_later();
  void serve_one_batch(std::unique_lock<std::mutex>& lock);
  void serve_jobs(std::unique_lock<std::mutex>& lock);
  Batch take_batch();
  // Commits the members together, each failing one alone, and completes their answers.
  void commit_and_answer(Batch batch);
  // One transaction. If it returns an Error, `blamed` is the index of the member that was being
  // written; batch.size() if COMMIT failed.
  Result<Done> commit_together(Batch& batch, std::size_t& blamed);
  // Begins a transaction, calls `body`, commits. If it returns an Error, nothing was written,
  // unless has_unknown_commit_ is set.
  Result<Done> transact(const std::function<Result<Done>()>& body);
  Error failed_commit();
  // Fails if the path no longer leads to the open file; after that, no commit is accepted.
  Result<Done> check_file();
  // Moves the write-ahead log into the file if it is long enough.
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
  bool is_asked_ = false;  // with run_later: a batch is scheduled and has not started

  // Used by the writer thread only.
  std::unique_ptr<Connection> connection_;
  CommitWriter commits_;
  std::uint64_t transactions_ = 0;
  int log_pages_ = 0;
  std::string lost_why_;                          // the message of the Error of each later commit
  std::atomic<bool> has_unknown_commit_ = false;  // also if the path leads to another file

  std::shared_ptr<Done> life_ = std::make_shared<Done>();  // expires for work scheduled later
  std::thread thread_;                                     // last: it uses everything above
};

}  // namespace belay::sqlite
