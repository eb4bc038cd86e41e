#include "store/postgres/sessions.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/start_thread.h"
#include "store/postgres/transaction_retry.h"

namespace belay::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds first_pause{50};
constexpr milliseconds longest_pause{1'000};
constexpr std::size_t remembered_max = 10'000;
// The caller blocks the event loop: no run continues and no signal is handled meanwhile.
constexpr milliseconds shortly{2'000};

// "host:pid", for display.
std::string own_name() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return std::string(host.data()) + ":" + std::to_string(getpid());
}

// The same address with a shorter connect_timeout (2 to 10 s): during a longer wait the lease would
// expire.
Address impatient(Address address) {
  auto seconds = std::clamp<std::int64_t>(address.session_expiry.count() / 3'000, 2, 10);
  for (auto& [name, value] : address.parameters) {
    if (name != "connect_timeout") continue;
    std::int64_t given = 0;
    std::from_chars(value.data(), value.data() + value.size(), given);
    if (given <= 0 || given > seconds) value = std::to_string(seconds);
  }
  return address;
}

milliseconds since(steady_clock::time_point time) {
  return std::chrono::duration_cast<milliseconds>(steady_clock::now() - time);
}

}  // namespace

Sessions::Sessions(const Address& address, std::shared_ptr<const ShutdownDeadline> haste,
                   std::string name, ServerClock& clock)
    : address_(impatient(address)),
      haste_(std::move(haste)),
      name_(name.empty() ? own_name() : std::move(name)),
      interval_(address.session_expiry / 3),
      clock_(clock) {}

Sessions::~Sessions() {
  Column ours(Type::uuid);
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
    for (const auto& [session, renewed_at] : open_) ours.add(session);
  }
  stopping_.notify_all();
  if (heart_.joinable()) heart_.join();
  // Opens no connection for this: if the connection is lost, the leases expire.
  if (ours.size() == 0 || !asked_ || asked_->is_lost()) return;
  Parameters parameters;
  parameters.add(ours);
  (void)with_retry(*asked_, [&] {
    return asked_->query(
        "UPDATE belay.sessions SET expires_at = least(expires_at, clock_timestamp())"
        " WHERE session_id = ANY($1)",
        parameters);
  });
}

Result<Done> Sessions::connect(std::unique_ptr<Connection>& connection) const {
  if (connection && !connection->is_lost()) return Done{};
  connection.reset();
  BELAY_TRY(connection, Connection::open(address_, haste_));
  connection->set_patience(std::max(interval_, milliseconds(1'000)));
  return Done{};
}

Result<Rows> Sessions::ask(std::string_view sql, const Parameters& parameters,
                           milliseconds patience) {
  std::lock_guard lock(asking_);
  Time begun = steady_clock::now();
  // An idle connection can have been lost, or its server can have become a standby, undetected: one
  // immediate retry on a new connection.
  bool may_be_stale = asked_ != nullptr;
  TransactionRetry repetition;
  while (true) {
    BELAY_CHECK(connect(asked_));
    asked_->set_patience(patience);
    auto given = asked_->query_primary(sql, parameters);
    if (given.ok() || since(begun) >= patience) return given;
    if (asked_->is_retryable() && repetition.should_retry()) continue;
    if (asked_->is_lost() && std::exchange(may_be_stale, false)) continue;
    return given;
  }
}

Result<Done> Sessions::insert(const SessionId& session, Instant now) {
  Time before = steady_clock::now();
  Parameters row;
  row.add(session).add(std::string_view(name_)).add(address_.session_expiry.count());
  row.add(now);
  // ON CONFLICT: if the reply was lost, the retry finds the row of the first try.
  BELAY_CHECK(
      ask("INSERT INTO belay.sessions (session_id, name, started_at, seen_at, expires_at)"
          " SELECT $1, $2, $4, now, now + $3 * interval '1 millisecond' FROM clock_timestamp() now"
          " ON CONFLICT (session_id) DO NOTHING",
          row, std::max(interval_, milliseconds(5'000))));
  std::lock_guard lock(mutex_);
  open_[session] = before;
  if (!heart_.joinable()) heart_ = start_thread([this] { beat_until_stopped(); });
  return Done{};
}

void Sessions::release(const SessionId& session) {
  std::lock_guard in_order(order_);
  {
    std::lock_guard lock(mutex_);
    if (open_.erase(session) == 0) return;
    alive_.erase(session);
  }
  // If that fails, the lease expires.
  (void)ask(
      "UPDATE belay.sessions SET expires_at = least(expires_at, clock_timestamp())"
      " WHERE session_id = $1",
      Parameters().add(session), shortly);
}

std::optional<bool> Sessions::remembered(const SessionId& session) const {
  std::lock_guard lock(mutex_);
  Time now = steady_clock::now();
  auto own = open_.find(session);
  if (own != open_.end() && now < own->second + address_.session_expiry) return true;
  auto other = alive_.find(session);
  if (other != alive_.end() && now < other->second) return true;
  return std::nullopt;
}

bool Sessions::remember(const SessionId& session, milliseconds lease_left, Time asked_at) {
  std::lock_guard lock(mutex_);
  if (alive_.size() >= remembered_max) alive_.clear();
  if (lease_left.count() <= 0) {
    alive_.erase(session);
    return asked_at < in_doubt_until_;
  }
  alive_[session] = asked_at + std::min(lease_left, interval_);
  return true;
}

Result<bool> Sessions::is_alive(const SessionId& session) {
  if (session.is_null()) return false;
  if (std::optional<bool> known = remembered(session)) return *known;
  Time asked_at = steady_clock::now();
  BELAY_TRY(Rows row,
            ask("SELECT floor(extract(epoch FROM expires_at - clock_timestamp()) * 1000)::bigint"
                " FROM belay.sessions WHERE session_id = $1",
                Parameters().add(session), shortly));
  milliseconds lease_left(row.count() == 0 ? 0 : row.number(0, 0));
  return remember(session, lease_left, asked_at);
}

milliseconds Sessions::silent_for() const {
  std::lock_guard lock(mutex_);
  milliseconds longest{0};
  for (const auto& [session, renewed_at] : open_) longest = std::max(longest, since(renewed_at));
  return longest;
}

void Sessions::beat_until_stopped() {
  std::unique_ptr<Connection> connection;
  milliseconds pause = interval_;
  milliseconds after_failure = first_pause;
  std::unique_lock lock(mutex_);
  while (!stopping_.wait_for(lock, pause, [this] { return is_stopping_; })) {
    lock.unlock();
    Time begun = steady_clock::now();
    if (beat(connection)) {
      pause = std::max(interval_ - since(begun), milliseconds(1));
      after_failure = first_pause;
    } else {
      pause = std::min(after_failure, interval_);
      after_failure = std::min(after_failure * 2, longest_pause);
    }
    lock.lock();
  }
}

bool Sessions::beat(std::unique_ptr<Connection>& connection) {
  if (!connect(connection).ok()) return false;
  std::lock_guard in_order(order_);
  Column ours(Type::uuid);
  {
    std::lock_guard lock(mutex_);
    for (const auto& [session, renewed_at] : open_) ours.add(session);
  }
  if (ours.size() == 0) return true;
  // Taken before the request: the lease then never seems longer to us than it is in the server.
  Time before = steady_clock::now();
  Parameters row;
  row.add(address_.session_expiry.count()).add(ours).add(std::string_view(name_));
  // INSERT, because the row can have been pruned after a day without a heartbeat.
  Instant asked_at{};
  auto renewed = with_retry(*connection, [&] {
    asked_at = clock_.own_now();
    return connection->query(
        "INSERT INTO belay.sessions (session_id, name, started_at, seen_at, expires_at)"
        " SELECT u.id, $3, now, now, now + $1 * interval '1 millisecond'"
        " FROM unnest($2) AS u (id), clock_timestamp() AS now ORDER BY u.id"
        " ON CONFLICT (session_id) DO UPDATE SET seen_at = excluded.seen_at,"
        " expires_at = excluded.expires_at RETURNING session_id, seen_at",
        row);
  });
  if (!renewed.ok()) return false;
  if (renewed->count() > 0) clock_.learn(asked_at, renewed->instant(0, 1), clock_.own_now());
  note_renewed(*renewed, before);
  return true;
}

void Sessions::note_renewed(const Rows& renewed, Time before) {
  std::lock_guard lock(mutex_);
  for (int row = 0; row < renewed.count(); ++row) {
    auto own = open_.find(SessionId(renewed.uuid(row, 0)));
    if (own == open_.end()) continue;  // released meanwhile
    bool was_silent = before - own->second > address_.session_expiry;
    if (was_silent) in_doubt_until_ = before + address_.session_expiry;
    own->second = before;
  }
}

Result<Done> Sessions::prune(Connection& connection) {
  return with_retry(connection, [&] {
    return connection.execute(
        "WITH dead AS MATERIALIZED (SELECT session_id FROM belay.sessions"
        "   WHERE expires_at < clock_timestamp() - interval '1 day' LIMIT 1000"
        "   FOR UPDATE SKIP LOCKED)"
        " DELETE FROM belay.sessions s USING dead d WHERE s.session_id = d.session_id"
        " AND NOT EXISTS (SELECT 1 FROM belay.runs r WHERE r.session_id = d.session_id"
        "   AND r.status IN ('queued', 'running', 'paused', 'quarantined'))");
  });
}

}  // namespace belay::postgres
