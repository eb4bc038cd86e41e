#pragma once
// store/postgres/connection.h - libpq with owners: a connection in pipeline mode, and the rows that
// a statement gave.
//
// Statements are queued by send() and travel together; sync() has the server carry them out and
// waits for all that they gave. Without BEGIN they are one transaction. Each is prepared by the
// protocol, without a name, so that a pooler may give every transaction another server connection.
//
// In a statement "belay." stands for the schema of the address.
//
// Threading: a Connection and its Rows belong to one thread at a time.

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "belay/ids.h"
#include "belay/rows.h"
#include "store/postgres/address.h"
#include "store/postgres/parameters.h"
#include "store/postgres/shutdown_deadline.h"

struct pg_conn;
struct pg_result;

namespace belay::postgres {

// SQLSTATE of what a standby, or a server that is set to read only, is asked to write.
inline constexpr std::string_view state_of_read_only = "25006";

// SQLSTATE of a lock that did not come within lock_timeout.
inline constexpr std::string_view state_of_lock = "55P03";

// For Connection::check_primary(), the beginning of a statement. Not transaction_read_only: who
// reads may have said so himself.
inline constexpr std::string_view asks_for_writes =
    "SELECT pg_is_in_recovery(), current_setting('default_transaction_read_only') = 'on',"
    " pg_backend_pid()";

// What one statement gave: rows and columns from 0. A null reads as an empty text, 0, the null id.
class Rows {
 public:
  explicit Rows(pg_result* result);  // owns it

  int count() const;
  std::int64_t touched() const;  // rows that it inserted, updated or deleted
  bool is_null(int row, int column) const;
  std::int64_t number(int row, int column) const;
  std::uint64_t natural(int row, int column) const;
  bool boolean(int row, int column) const;
  Instant instant(int row, int column) const;
  std::string_view view(int row, int column) const;  // of text or bytes; lives as long as the Rows
  std::string text(int row, int column) const { return std::string(view(row, column)); }
  Uuid uuid(int row, int column) const;
  Digest digest(int row, int column) const;

 private:
  struct Clear {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Clear> result_;
};

// `corrupt` for a word that the store does not know.
template <typename E>
Result<Done> read_enum(const Rows& rows, int row, int column, E& value) {
  std::string_view name = rows.view(row, column);
  auto named = store::enum_named<E>(name);
  if (!named) {
    return error(ErrorCode::corrupt, "The store holds the unknown word \"" +
                                         std::string(name.substr(0, 100)) +
                                         "\"; restore it from a backup.");
  }
  value = *named;
  return Done{};
}

class Connection {
 public:
  // Connects; waits no longer than the address' connect_timeout. `unavailable` when it can't.
  static Result<std::unique_ptr<Connection>> open(const Address& address);
  // The same, and heeds `haste`, with which it waits for two seconds at most.
  static Result<std::unique_ptr<Connection>> open(const Address& address,
                                                  std::shared_ptr<const ShutdownDeadline> haste);
  Connection(const Address& address, pg_conn* handle);  // owns it; for open()
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // Queues a statement. What it can't even queue, sync() will say.
  void send(std::string_view sql, const Parameters& parameters = {});
  // What each statement since the last sync() gave, or the first error, which undid them all. In a
  // block that was begun before, the block has failed then: roll_back().
  Result<std::vector<Rows>> sync();
  // One more statement, and sync(): what that one gave.
  Result<Rows> query(std::string_view sql, const Parameters& parameters = {});
  // The same, but nothing from a server that takes no writes: what it knows may be of long ago.
  Result<Rows> query_primary(std::string_view sql, const Parameters& parameters = {});
  // Whether the server itself tells when it becomes a standby, or is set to read only. A pooler
  // does not: then, and as long as that is not known, each transaction asks.
  bool tells_its_state() const { return tells_its_state_; }
  // As query_primary(), after the sync() of a transaction's first statements. `asked` is what
  // `asks_for_writes` gave, or anything where the server tells its state.
  Result<Done> check_primary(const Rows& asked);
  Result<Done> execute(std::string_view sql);
  // Has the server carry out what is queued, and waits for nothing: what it gives goes nowhere.
  void send_off();
  // Ends a block, if there is one and the connection lives.
  void roll_back();

  // Whether it can be used no more; of what was under way nothing is known, unless
  // takes_no_writes().
  bool is_lost() const { return has_unknown_commit_; }
  // SQLSTATE of the last error of the server: "40001"; empty where the connection was lost.
  const std::string& state() const { return state_; }
  // The server gave up a transaction that may simply be tried again: 40001, 40P01.
  bool is_retryable() const { return state_ == "40001" || state_ == "40P01"; }
  // The server is a standby now, or set to read only: nothing was written. A new connection may
  // find another, or the same in another state; this one is lost.
  bool takes_no_writes() const { return state_ == state_of_read_only; }
  // How long sync() waits for the server to say anything at all; then the connection is lost.
  void set_patience(std::chrono::milliseconds patience) { patience_ = patience; }
  // From now on sync() waits no longer than `haste` lets it. May be null.
  void heed(std::shared_ptr<const ShutdownDeadline> haste) { haste_ = std::move(haste); }

  // 150004 for 15.4.
  int server_version() const;
  // The server's process, as it was said to us when we connected: a pooler says what it likes.
  int announced_process() const;
  const Address& address() const { return address_; }

  // For poll(); -1 where the connection is lost.
  int socket() const;
  // Waits up to `time` for a NOTIFY to what it listens to; how many came.
  std::size_t wait_for_notifications(std::chrono::milliseconds time);
  // Of the channels: what came since it was asked last.
  std::vector<std::string> take_notifications();

 private:
  enum class Wanted { readable, writable_too };
  // False when the patience is over or the socket can't be waited for.
  bool wait(Wanted wanted, std::chrono::milliseconds time);
  bool flush();
  bool receive();  // until a result is there
  Error lost();
  Error error_of(const pg_result* result);
  std::string_view in_schema(std::string_view sql);
  void collect_notifications();

  const Address address_;
  pg_conn* handle_;
  bool has_unknown_commit_ = false;
  bool tells_its_state_ = false;
  int sent_off_ = 0;         // times; the server's answers to it come before any other
  bool is_refused_ = false;  // send() could not queue a statement
  std::string state_;
  std::chrono::milliseconds patience_;
  std::shared_ptr<const ShutdownDeadline> haste_;
  std::vector<std::string> notifications_;
  std::unordered_map<std::string, std::string> statements_;  // by what send() was given
};

}  // namespace belay::postgres
