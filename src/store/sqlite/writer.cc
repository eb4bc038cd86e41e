// Commits in batches, one transaction per batch; see writer.h for the rules.
//
// The order of the steps must not change: BEGIN IMMEDIATE; guards and rows of each commit; COMMIT,
// which syncs the log; acknowledgement of the commits; checkpoint of the log.
//
// If the process dies before COMMIT returns, SQLite keeps all of the transaction or nothing, and no
// commit was acknowledged. A commit that is sent again afterwards is `applied` in either case: if
// it was kept, outcome_of_moved_run() in commit_writer.cc recognizes it by its checkpoint id.

#include "store/sqlite/writer.h"

#include <sqlite3.h>

#include <algorithm>
#include <set>

#include "base/start_thread.h"
#include "belay/limits.h"
#include "store/commit_weight.h"

namespace belay::sqlite {
namespace {

// The writer checkpoints the write-ahead log above this number of frames if no commit waits...
constexpr int log_frames_idle_max = 1'000;
// ...or above this number even if commits wait.
constexpr int log_frames_busy_max = 8'000;

std::optional<FileId> file_at(const std::string& path) {
  auto found = file_id(path);
  return found.ok() ? *found : std::nullopt;
}

// True if COMMIT certainly failed before its last frame was in the log: a crash cannot make the
// transaction durable. Any other code, above all that of a failed fsync, leaves this open.
bool is_clear(int code) {
  return (code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_FULL || code == SQLITE_IOERR_WRITE;
}

}  // namespace

Writer::Writer(std::string path, std::unique_ptr<Connection> connection, Clock& clock,
               SqliteStoreOptions options)
    : path_(std::move(path)),
      file_(file_at(path_)),
      options_(std::move(options)),
      connection_(std::move(connection)),
      commits_(*connection_, clock) {
  // Replaces SQLite's automatic checkpoint, which would run inside COMMIT, before the commits are
  // acknowledged.
  sqlite3_wal_hook(
      connection_->handle(),
      [](void* pages, sqlite3*, const char*, int count) {
        *static_cast<int*>(pages) = count;
        return SQLITE_OK;
      },
      &log_pages_);
  if (!options_.run_later) thread_ = start_thread([this] { serve(); });
}

Writer::~Writer() {
  // Accepted commits are written in either mode. serve() returns only when the queue is empty.
  if (options_.run_later) {
    std::unique_lock lock(mutex_);
    while (!queue_.empty()) serve_one_batch(lock);
    return;
  }
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Writer::push(Commit commit, Answer answer) {
  auto waiting = std::make_unique<Waiting>(std::move(commit), std::move(answer));
  {
    std::unique_lock lock(mutex_);
    if (queue_.size() < limits::commit_queue_max) {
      queue_.push_back(std::move(waiting));
      // A longer queue needs no notification: the writer waits only while the queue is empty.
      if (queue_.size() == 1) changed_.notify_one();
      lock.unlock();
      if (options_.run_later) serve_later();
      return;
    }
  }
  waiting->answer.complete(
      error(ErrorCode::unavailable, "The queue of the store " + path_ +
                                        " is full: " + std::to_string(limits::commit_queue_max) +
                                        " commits wait. Try again shortly."));
}

Result<Done> Writer::perform(Job job) {
  if (options_.run_later) return transact([&] { return job(*connection_); });
  // On this stack: the writer does not use it after it has set `outcome`, under the lock.
  WaitingJob waiting{std::move(job), std::nullopt};
  std::unique_lock lock(mutex_);
  jobs_.push_back(&waiting);
  changed_.notify_one();
  job_done_.wait(lock, [&] { return waiting.outcome.has_value(); });
  return *std::move(waiting.outcome);
}

void Writer::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_stopping_ || !queue_.empty() || !jobs_.empty(); });
    serve_jobs(lock);
    if (queue_.empty()) {
      if (is_stopping_) return;
      continue;
    }
    serve_one_batch(lock);
  }
}

void Writer::serve_later() {
  if (std::exchange(is_asked_, true)) return;
  // The work can outlive the writer; `life` then has expired.
  options_.run_later([this, life = std::weak_ptr<Done>(life_)] {
    if (life.expired()) return;
    is_asked_ = false;
    std::unique_lock lock(mutex_);
    if (!queue_.empty()) serve_one_batch(lock);
    bool is_idle = queue_.empty();
    lock.unlock();
    if (!is_idle) serve_later();
  });
}

void Writer::serve_one_batch(std::unique_lock<std::mutex>& lock) {
  Batch batch = take_batch();
  lock.unlock();
  commit_and_answer(std::move(batch));
  // After the completions, so that no caller waits for the checkpoint of its own batch.
  lock.lock();
  bool is_idle = queue_.empty();
  lock.unlock();
  checkpoint_wal(is_idle);
  lock.lock();
}

void Writer::serve_jobs(std::unique_lock<std::mutex>& lock) {
  while (!jobs_.empty()) {
    WaitingJob* waiting = jobs_.front();
    jobs_.pop_front();
    lock.unlock();
    auto outcome = transact([&] { return waiting->job(*connection_); });
    lock.lock();
    waiting->outcome.emplace(std::move(outcome));
    job_done_.notify_all();
  }
}

// Takes the queued commits, up to the limits of a transaction.
//
// A run's second commit stays in front of the queue for the next batch. In the same batch it could
// be committed before the first: commit_and_answer() moves a failing commit behind the others.
Writer::Batch Writer::take_batch() {
  Batch batch;
  Batch staying;
  std::set<std::pair<RunId, TenantId>> taken;
  std::size_t bytes = 0;
  while (!queue_.empty() && batch.size() < limits::commit_batch_max &&
         bytes < limits::commit_batch_bytes_max) {
    std::unique_ptr<Waiting> next = std::move(queue_.front());
    queue_.pop_front();
    bool is_run = !next->run().is_null();
    if (is_run && !taken.emplace(next->run(), next->commit.tenant).second) {
      staying.push_back(std::move(next));
      continue;
    }
    bytes += store::weight_of(next->commit);
    next->place = batch.size();
    batch.push_back(std::move(next));
  }
  queue_.insert(queue_.begin(), std::make_move_iterator(staying.begin()),
                std::make_move_iterator(staying.end()));
  // By run id. Commits without a run (null id) come first, in the order in which they were pushed.
  std::sort(batch.begin(), batch.end(), [](const auto& a, const auto& b) {
    return std::pair(a->run(), a->place) < std::pair(b->run(), b->place);
  });
  return batch;
}

void Writer::commit_and_answer(Batch batch) {
  Batch guilty;
  while (!batch.empty()) {
    std::size_t blamed = 0;
    auto together = commit_together(batch, blamed);
    // Any other code is the fault of one commit, a row that cannot be written. The rollback has
    // undone the whole batch: retry it without that commit, which then gets its own transaction.
    // `unavailable` (busy, full disk, read-only, replaced file) and `uncertain` affect every
    // member; COMMIT itself fails only with these two, so `blamed` is a valid index below.
    bool is_one_to_blame = !together.ok() && together.error().code != ErrorCode::unavailable &&
                           together.error().code != ErrorCode::uncertain;
    if (is_one_to_blame && batch.size() > 1) {
      guilty.push_back(std::move(batch[blamed]));
      batch.erase(batch.begin() + static_cast<std::ptrdiff_t>(blamed));
      continue;
    }
    // COMMIT has returned. An earlier acknowledgement could be lost in a crash.
    for (std::unique_ptr<Waiting>& member : batch) {
      if (together.ok()) {
        member->answer.complete(member->outcome);
      } else {
        member->answer.complete(together.error());
      }
    }
    batch.clear();
  }
  for (std::unique_ptr<Waiting>& member : guilty) {
    Batch alone;
    alone.push_back(std::move(member));
    commit_and_answer(std::move(alone));
  }
}

Result<Done> Writer::commit_together(Batch& batch, std::size_t& blamed) {
  std::uint64_t number = ++transactions_;
  if (options_.at_commit) options_.at_commit(number, false);
  BELAY_CHECK(transact([&]() -> Result<Done> {
    for (blamed = 0; blamed < batch.size(); ++blamed) {
      BELAY_TRY(batch[blamed]->outcome, commits_.apply(batch[blamed]->commit));
    }
    return Done{};
  }));
  if (options_.at_commit) options_.at_commit(number, true);
  return Done{};
}

Result<Done> Writer::transact(const std::function<Result<Done>()>& body) {
  if (has_unknown_commit_) return error(ErrorCode::unavailable, lost_why_);
  // Each time, because the file can be replaced while the store is open.
  BELAY_CHECK(check_file());
  // IMMEDIATE takes the write lock now, up to COMMIT: the guards read the newest rows, and no other
  // process can change them before ours are written. A deferred transaction would read a snapshot
  // and could fail at its first write.
  BELAY_CHECK(connection_->execute("BEGIN IMMEDIATE"));
  auto done = body();
  if (done.ok()) {
    if (connection_->execute("COMMIT").ok()) return Done{};
    done = failed_commit();
  }
  // After some errors (full disk, I/O) SQLite has already rolled back.
  if (connection_->in_transaction()) (void)connection_->execute("ROLLBACK");
  // The cache can contain numbers that the undone transaction assigned; SQLite assigns them again.
  commits_.forget();
  return done;
}

// If the path cannot be read right now, it does not count as another file: the open file might be
// unchanged. If `found` has no value (no file at the path), it does.
Result<Done> Writer::check_file() {
  auto found = file_id(path_);
  if (!found.ok() || *found == file_) return Done{};
  lost_why_ = "Store \"" + path_ +
              "\" was moved, removed or replaced while this process had it open. Stop this process "
              "and open the store at its current path.";
  has_unknown_commit_ = true;
  return error(ErrorCode::unavailable, lost_why_);
}

// The fault: fsync failed, or another I/O error at the end of COMMIT. The kernel can mark pages
// clean although they never reached the disk, so a retry would succeed without making them durable,
// and a read would find rows that a power failure removes. The next opening of the store decides
// (end_recovery() in schema.cc). Until then the outcome is `uncertain`, and every later commit is
// rejected.
Error Writer::failed_commit() {
  if (is_clear(connection_->code())) return connection_->error();
  lost_why_ =
      "Store \"" + path_ +
      "\" could not confirm an earlier commit and accepts no more. Stop this process, check "
      "the disk, and reopen the store.";
  has_unknown_commit_ = true;
  return error(ErrorCode::uncertain,
               "Store \"" + path_ +
                   "\" could not confirm a commit: it might or might not be durable. Stop this "
                   "process, check the disk, and reopen the store. " +
                   connection_->error().message);
}

// Copies the log into the file. PASSIVE waits for no reader and no writer of another process, but
// delays the next batch: hence the higher threshold while commits wait. The log is durable without
// it, so a failure costs only space. If the outcome of a COMMIT is unknown, the log must not be
// copied: its frames might be in the kernel's cache only.
void Writer::checkpoint_wal(bool is_idle) {
  if (has_unknown_commit_ || log_pages_ <= (is_idle ? log_frames_idle_max : log_frames_busy_max))
    return;
  auto moved = connection_->execute("PRAGMA wal_checkpoint(PASSIVE)");
  if (moved.ok()) log_pages_ = 0;
}

}  // namespace belay::sqlite
