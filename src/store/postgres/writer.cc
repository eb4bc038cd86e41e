// Commits in batches, with retries while the server is unavailable; see writer.h.
//
// Faults, and the branch that each one takes:
//   a guard does not hold     the batch is undone; set_apart() selects the commits that go alone
//   a row cannot be written   the batch is undone; every member goes alone and gets its own Error
//   40001, 40P01              undone by the server in favour of another; TransactionRetry
//   55P03 (lock_timeout)      note_lock() ends stopped transactions, then retry with backoff
//   25006 (standby)           nothing was written; new connection, retry with backoff
//   connection lost           COMMIT might have succeeded: `was_sent`, then retry with backoff
// The retry sends the identical commit. If COMMIT had succeeded, the guard of a commit that changes
// its run does not hold this time, and CommitWriter recognizes the commit by its checkpoint id:
// `applied` in either case. A pending write writes the same rows again. The delivery of a message
// is recognized by the new values of its row.

#include "store/postgres/writer.h"

#include <algorithm>
#include <set>

#include "base/start_thread.h"
#include "belay/limits.h"
#include "store/commit_weight.h"
#include "store/postgres/commit_writer.h"
#include "store/postgres/transaction_retry.h"

namespace belay::postgres {
namespace {

constexpr std::chrono::milliseconds longest_wait{1'000};

// For transactions of several round trips: if this process is stopped or its machine is lost
// between two of them, the server ends the transaction and releases its locks after this time.
constexpr std::string_view bound_idleness = "SET LOCAL idle_in_transaction_session_timeout = '10s'";
// Returns no row, and fails with 25006 on a standby or read-only server. Precedes the reads of the
// guards: on a former primary they would see outdated rows, and `fenced` is final.
constexpr std::string_view wants_to_write = "SELECT FROM belay.runs WHERE false FOR KEY SHARE";

}  // namespace

Writer::Writer(Address address, std::unique_ptr<Connection> connection,
               std::shared_ptr<const ShutdownDeadline> haste, Clock& clock,
               PostgresStoreOptions options)
    : address_(std::move(address)),
      haste_(std::move(haste)),
      options_(std::move(options)),
      clock_(clock),
      connection_(std::move(connection)) {
  connection_->heed(haste_);
  thread_ = start_thread([this] { serve(); });
}

Writer::~Writer() {
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
    std::lock_guard lock(mutex_);
    if (queue_.size() < limits::commit_queue_max) {
      queue_.push_back(std::move(waiting));
      // A longer queue needs no notification: the writer waits only while the queue is empty.
      if (queue_.size() == 1) changed_.notify_one();
      return;
    }
  }
  waiting->answer.complete(
      error(ErrorCode::unavailable, "The queue of the store, " + address_.shown +
                                        ", is full: " + std::to_string(limits::commit_queue_max) +
                                        " commits wait. Try again shortly."));
}

void Writer::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;  // stopping, and all accepted commits have their outcome
    Batch batch = take_batch();
    lock.unlock();
    commit_and_answer(std::move(batch));
    lock.lock();
  }
}

// Takes the queued commits, up to the limits of a transaction.
//
// A run's second commit stays in front of the queue for the next batch: one statement moves all
// runs of a batch (move_statement in commit_batch.cc) and cannot move a run twice. Sorted by run
// id, so that batches of several processes lock their runs in the same order; if a deadlock still
// occurs, the server resolves it (40P01).
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
  std::sort(batch.begin(), batch.end(), [](const auto& a, const auto& b) {
    return std::pair(a->run(), a->place) < std::pair(b->run(), b->place);
  });
  return batch;
}

void Writer::commit_and_answer(Batch batch) {
  Batch together;
  Batch alone;
  for (std::unique_ptr<Waiting>& member : batch) {
    (fits_together(member->commit) ? together : alone).push_back(std::move(member));
  }
  // Adds to `alone` the members that cannot be committed with the others.
  commit_many(std::move(together), alone);
  for (std::unique_ptr<Waiting>& member : alone) commit_one(*member);
}

void Writer::commit_many(Batch members, Batch& alone) {
  Patience patience(*this);
  TransactionRetry repetition;
  while (!members.empty()) {
    auto connection = connected();
    TogetherAnswer answer{Together::repeat, {}};
    if (connection.ok()) {
      std::vector<const Commit*> commits;
      for (const std::unique_ptr<Waiting>& member : members) commits.push_back(&member->commit);
      std::uint64_t number = ++transactions_;
      if (options_.at_commit) options_.at_commit(number, false);
      answer = commit_together(**connection, commits, options_.lock_patience);
      note_lock(**connection);
      if (answer.outcome == Together::applied && options_.at_commit) {
        options_.at_commit(number, true);
      }
    } else {
      answer.error = std::move(connection).error();
    }
    // Durable: the server has confirmed COMMIT. Not before this are the commits acknowledged.
    if (answer.outcome == Together::applied) {
      for (std::unique_ptr<Waiting>& member : members) {
        member->answer.complete(CommitOutcome::applied);
      }
      return;
    }
    if (answer.outcome == Together::a_guard) {
      set_apart(members, alone);  // moves at least one member, so that the loop ends
      continue;
    }
    // The server does not report whose row it rejected, and nothing was written: each member goes
    // alone. `unavailable` (full disk, lock_timeout, ...) is not the fault of a member.
    bool is_a_member_to_blame =
        answer.outcome == Together::refused && answer.error.code != ErrorCode::unavailable;
    if (is_a_member_to_blame) {
      std::move(members.begin(), members.end(), std::back_inserter(alone));
      return;
    }
    // COMMIT was part of the pipeline. Without its reply the outcome is unknown, and stays unknown
    // if a later try fails for another reason: `was_sent` is never reset.
    for (std::unique_ptr<Waiting>& member : members) {
      member->was_sent = member->was_sent || answer.outcome == Together::lost;
    }
    if (is_given_up() && repetition.should_retry()) continue;
    if (patience.wait()) continue;
    for (std::unique_ptr<Waiting>& member : members) {
      member->answer.complete(last_word(*member, answer.error));
    }
    return;
  }
}

// The failed batch does not report which guard it was, so the runs are read again. They can have
// changed since, and a concurrency limit also fails as a guard: if all runs match their guards now,
// or the read fails, every member goes alone. commit_one() evaluates the guards under lock.
void Writer::set_apart(Batch& members, Batch& alone) {
  std::vector<const Commit*> commits;
  for (const std::unique_ptr<Waiting>& member : members) commits.push_back(&member->commit);
  std::vector<bool> stand(members.size(), false);
  if (members.size() > 1) {
    auto found = standing(*connection_, commits);
    if (found.ok()) stand = *std::move(found);
  }
  bool nobody_stands_out = std::find(stand.begin(), stand.end(), false) == stand.end();
  Batch left;
  for (std::size_t i = 0; i < members.size(); ++i) {
    bool goes_alone = nobody_stands_out || !stand[i];
    (goes_alone ? alone : left).push_back(std::move(members[i]));
  }
  members = std::move(left);
}

void Writer::commit_one(Waiting& member) {
  Patience patience(*this);
  TransactionRetry repetition;
  while (true) {
    auto outcome = try_one(member);
    // Race: another transaction inserted the same thread or run after this one had searched for it.
    // The next try finds the row and returns `exists` or `fenced`.
    bool is_guard = !outcome.ok() && connection_ && connection_->state() == state_of_guard;
    if (is_guard && repetition.should_retry()) continue;
    bool is_settled = outcome.ok() || outcome.error().code != ErrorCode::unavailable;
    if (is_settled) {
      member.answer.complete(std::move(outcome));
      return;
    }
    if (is_given_up() && repetition.should_retry()) continue;
    if (patience.wait()) continue;
    member.answer.complete(last_word(member, std::move(outcome).error()));
    return;
  }
}

Result<CommitOutcome> Writer::try_one(Waiting& member) {
  BELAY_TRY(Connection * connection, connected());
  std::uint64_t number = ++transactions_;
  if (options_.at_commit) options_.at_commit(number, false);
  CommitWriter single(*connection, options_.expiry_clock, clock_.now(), member.was_sent);
  // Queued only: these travel with the first statement of apply().
  begin_writing(*connection, options_.lock_patience);
  connection->send(bound_idleness);
  connection->send(wants_to_write);
  // If the connection is lost here, nothing was written: the server discards a transaction whose
  // COMMIT it has not received. Therefore `was_sent` is not set.
  auto outcome = single.apply(member.commit);
  bool is_written =
      outcome.ok() && (*outcome == CommitOutcome::applied || *outcome == CommitOutcome::expired);
  if (!is_written) {
    connection->roll_back();
    note_lock(*connection);
    return outcome;
  }
  auto committed = connection->execute("COMMIT");
  // The reply is lost, the transaction might be durable.
  if (connection->is_lost()) member.was_sent = true;
  if (!committed.ok()) {
    connection->roll_back();
    return std::move(committed).error();
  }
  if (options_.at_commit) options_.at_commit(number, true);
  return outcome;
}

// The lock's owner might be a process that was stopped within a transaction, or whose machine is
// lost: it would hold the lock without limit. Called after the rollback, when our own transaction
// has ended.
void Writer::note_lock(Connection& connection) {
  if (connection.state() != state_of_lock) return;
  end_silent_transactions(connection, options_.silence);
}

// Replaces a lost connection: a connection that lost a reply cannot be used again, and after a
// failover a new one might lead to the new primary.
Result<Connection*> Writer::connected() {
  if (connection_ && connection_->is_lost()) connection_.reset();
  if (!connection_) {
    BELAY_TRY(connection_, Connection::open(address_, haste_));
  }
  return connection_.get();
}

// The time counts from the first failure, and `haste_` shortens it during a shutdown. The
// destructor interrupts the wait, so that it does not wait for a server that is unavailable.
bool Writer::Patience::wait() {
  auto now = std::chrono::steady_clock::now();
  if (!begun_) begun_ = now;
  auto end = *begun_ + writer_.address_.patience;
  if (auto hasty = writer_.haste_->end_for(*begun_)) end = std::min(end, *hasty);
  if (now >= end) return false;
  std::unique_lock lock(writer_.mutex_);
  bool is_stopping =
      writer_.changed_.wait_for(lock, pause_, [this] { return writer_.is_stopping_; });
  pause_ = std::min(2 * pause_, longest_wait);
  return !is_stopping;
}

// `unavailable` would permit the caller to conclude that nothing was written.
Error Writer::last_word(const Waiting& member, Error why) {
  if (!member.was_sent) return why;
  why.code = ErrorCode::uncertain;
  why.message =
      "A commit might or might not be durable, because its reply was lost: " + why.message;
  return why;
}

}  // namespace belay::postgres
