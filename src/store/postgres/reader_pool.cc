#include "store/postgres/reader_pool.h"

#include <algorithm>

#include "base/start_thread.h"
#include "belay/limits.h"
#include "store/poll.h"
#include "store/postgres/postgres_snapshot.h"
#include "store/postgres/transaction_retry.h"

namespace belay::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds first_open_pause{50};
constexpr milliseconds longest_open_pause{1'000};

// The first retry follows without a pause: a restarted server accepts a new connection immediately.
milliseconds pause_after(milliseconds pause) {
  return std::clamp(pause * 2, first_open_pause, longest_open_pause);
}

Error given_up(const Error& last, milliseconds taken) {
  std::string message = last.message;
  if (message.ends_with('.')) message.pop_back();
  message += " (tried for " + std::to_string(taken.count()) +
             " ms without success; the next read tries again).";
  return error(ErrorCode::unavailable, std::move(message));
}

}  // namespace

ReaderPool::~ReaderPool() {
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  stopping_.notify_all();
  // push() is not called any more, so that threads_ does not change.
  for (std::thread& thread : threads_) thread.join();
}

void ReaderPool::push(Store::Reader reader, Answer answer) {
  push(Waiting{std::move(reader), std::move(answer)});
}

void ReaderPool::push_claim(PollFilter filter, std::shared_ptr<std::vector<RunRow>> offered,
                            Answer answer) {
  push(Waiting{nullptr, std::move(answer), Claim{std::move(filter), std::move(offered)}});
}

void ReaderPool::push(Waiting waiting) {
  std::unique_lock lock(mutex_);
  if (queue_.size() < limits::commit_queue_max) {
    bool needs_thread = queue_.size() >= idle_ && threads_.size() < address_.pool;
    if (needs_thread) threads_.push_back(start_thread([this] { serve(); }));
    queue_.push_back(std::move(waiting));
    changed_.notify_one();
    return;
  }
  lock.unlock();
  waiting.answer.complete(
      error(ErrorCode::unavailable,
            "The store's queue of reads is full: " + std::to_string(limits::commit_queue_max) +
                " wait for " + std::to_string(address_.pool) +
                " connections. Set a larger pool= in the store's URL, or try again shortly."));
}

void ReaderPool::serve() {
  std::unique_ptr<Connection> connection;
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    changed_.wait(lock, [this] { return is_stopping_ || !queue_.empty(); });
    --idle_;
    if (queue_.empty()) return;
    {
      Waiting next = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      next.answer.complete(read(connection, next));
    }
    lock.lock();
  }
}

Result<Done> ReaderPool::read(std::unique_ptr<Connection>& connection, const Waiting& waiting) {
  steady_clock::time_point begun = steady_clock::now();
  milliseconds next_pause{0};
  TransactionRetry repetition;
  while (true) {
    Attempt attempt = read_once(connection, waiting);
    if (!attempt.is_retryable) return std::move(attempt.outcome);
    bool is_given_up = connection && connection->is_retryable();
    if (is_given_up && repetition.should_retry()) continue;
    auto taken = std::chrono::duration_cast<milliseconds>(steady_clock::now() - begun);
    auto hasty = haste_->end_for(waiting.pushed_at);
    if (taken >= address_.patience || (hasty && steady_clock::now() >= *hasty)) {
      return given_up(attempt.outcome.error(), taken);
    }
    if (!pause(std::min(next_pause, address_.patience - taken))) return std::move(attempt.outcome);
    next_pause = pause_after(next_pause);
  }
}

ReaderPool::Attempt ReaderPool::read_once(std::unique_ptr<Connection>& connection,
                                          const Waiting& waiting) {
  auto connected = connect(connection);
  if (!connected.ok()) return {std::move(connected), true};
  if (waiting.claim) return poll_once(*connection, *waiting.claim);
  PostgresSnapshot snapshot(*connection);
  Attempt attempt{waiting.reader(snapshot)};
  if (snapshot.failure() && (connection->is_lost() || connection->is_retryable())) {
    attempt = {*snapshot.failure(), true};
  }
  if (snapshot.has_started()) {
    // Without waiting for the reply: the transaction has written nothing.
    connection->send("ROLLBACK");
    connection->send_off();
  }
  return attempt;
}

// Makes returned candidates visible to other sessions again. Only those still marked for this
// session: after the visibility timeout another session can have received them.
Result<Done> ReaderPool::give_back(Connection& connection, const PollFilter& filter) {
  if (filter.returned_candidates.empty()) return Done{};
  Column tenants(Type::text);
  Column runs(Type::uuid);
  for (const auto& [tenant, run] : filter.returned_candidates) {
    tenants.add(std::string_view(tenant.text));
    runs.add(run);
  }
  Parameters given;
  given.add(tenants).add(runs).add(filter.session);
  connection.send(
      "WITH mine AS (SELECT r.tenant, r.run_id FROM unnest($1, $2) AS u (tenant, run_id)"
      " JOIN belay.runs r ON r.tenant = u.tenant AND r.run_id = u.run_id"
      " WHERE r.offered_to = $3 AND r.status IN ('queued', 'paused') FOR UPDATE OF r SKIP LOCKED)"
      " UPDATE belay.runs r SET offered_to = NULL, offered_until = NULL FROM mine m"
      " WHERE r.tenant = m.tenant AND r.run_id = m.run_id",
      given);
  auto told = connection.sync();
  if (!told.ok()) return std::move(told).error();
  return Done{};
}

// The candidates are locked until they are marked and committed; concurrent polls skip locked runs.
// No two sessions therefore receive the same candidate within the visibility timeout. If the reply
// to COMMIT is lost, the poll is retried; candidates already marked stay hidden until the timeout.
ReaderPool::Attempt ReaderPool::poll_once(Connection& connection, const Claim& claim) {
  if (auto given = give_back(connection, claim.filter); !given.ok()) {
    return {std::move(given), connection.is_lost() || connection.is_retryable()};
  }
  PostgresSnapshot snapshot(connection, claim.filter.session);
  auto found = store::candidates_for(snapshot, claim.filter);
  if (!found.ok() || found->empty()) {
    bool is_again = connection.is_lost() || connection.is_retryable();
    connection.roll_back();
    if (found.ok()) return {Done{}};
    return {std::move(found).error(), is_again};
  }
  Column tenants(Type::text);
  Column runs(Type::uuid);
  for (const RunRow& row : *found) {
    tenants.add(std::string_view(row.tenant.text));
    runs.add(row.run);
  }
  Parameters marks;
  marks.add(tenants).add(runs).add(claim.filter.session);
  marks.add(static_cast<std::int64_t>(claim.filter.visibility_timeout.count()));
  connection.send(
      "UPDATE belay.runs r SET offered_to = $3,"
      " offered_until = clock_timestamp() + $4 * interval '1 millisecond'"
      " FROM unnest($1, $2) AS u (tenant, run_id)"
      " WHERE r.tenant = u.tenant AND r.run_id = u.run_id",
      marks);
  connection.send("COMMIT");
  auto marked = connection.sync();
  if (!marked.ok()) {
    bool is_again = connection.is_lost() || connection.is_retryable();
    connection.roll_back();
    return {std::move(marked).error(), is_again};
  }
  *claim.offered = *std::move(found);
  return {Done{}};
}

Result<Done> ReaderPool::connect(std::unique_ptr<Connection>& connection) {
  if (connection && !connection->is_lost()) return Done{};
  connection.reset();
  if (!pause(milliseconds(0))) {
    return error(ErrorCode::unavailable,
                 "The store, " + address_.shown + ", is being closed. Reopen it.");
  }
  BELAY_TRY(connection, Connection::open(address_, haste_));
  return Done{};
}

bool ReaderPool::pause(milliseconds time) {
  std::unique_lock lock(mutex_);
  return !stopping_.wait_for(lock, time, [this] { return is_stopping_; });
}

}  // namespace belay::postgres
