#pragma once
// store/postgres/connection.h - RAII wrapper of libpq: a connection in pipeline mode, and the rows
// of a result.
//
// send() queues statements; sync() has the server execute them in one round trip and waits for
// their results. Without BEGIN they form one transaction.
//
// If the server is reached directly (Address::pooler), a statement with Plan::kept is prepared
// under a name at its second use. A pooler can assign another server connection to every
// transaction: there, and while it is unknown, statements are unnamed. If the server lacks a name
// all the same, or a migration has changed the columns of a prepared statement, the transaction
// fails with is_retryable(), and nothing was written.
//
// In a statement "belay." stands for the schema of the address.
//
// Threading: a Connection and its Rows belong to one thread at a time.

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "belay/ids.h"
#include "belay/rows.h"
#include "store/postgres/address.h"
#include "store/postgres/parameters.h"
#include "store/postgres/prepared_statements.h"
#include "store/postgres/shutdown_deadline.h"

struct pg_conn;
struct pg_result;

namespace belay::postgres {

// SQLSTATE of a write on a standby or on a server that is set to read-only.
inline constexpr std::string_view state_of_read_only = "25006";

// SQLSTATE of a lock that was not available within lock_timeout.
inline constexpr std::string_view state_of_lock = "55P03";
// SQLSTATE of the division by zero by which a guard inside a statement fails.
inline constexpr std::string_view state_of_guard = "22012";

// The start of a statement for Connection::check_primary(). It does not read transaction_read_only,
// which a reader can have set for its own transaction.
inline constexpr std::string_view asks_for_writes =
    "SELECT pg_is_in_recovery(), current_setting('default_transaction_read_only') = 'on',"
    " pg_backend_pid()";

// The result of one statement; rows and columns count from 0. A null reads as an empty text, 0 or
// the null id.
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

// Fails with `corrupt` if the text is not the name of an enumerator.
template <typename E>
Result<Done> read_enum(const Rows& rows, int row, int column, E& value) {
  std::string_view name = rows.view(row, column);
  auto named = store::enum_named<E>(name);
  if (!named) {
    return error(ErrorCode::corrupt, "The store contains the unknown value \"" +
                                         std::string(name.substr(0, 100)) +
                                         "\". Restore it from a backup.");
  }
  value = *named;
  return Done{};
}

class Connection {
 public:
  // Connects; waits at most the address's connect_timeout. Fails with `unavailable`.
  static Result<std::unique_ptr<Connection>> open(const Address& address);
  // The same, and observes `haste`: during a shutdown it waits at most two seconds.
  static Result<std::unique_ptr<Connection>> open(const Address& address,
                                                  std::shared_ptr<const ShutdownDeadline> haste);
  Connection(const Address& address, pg_conn* handle);  // owns it; for open()
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // Queues a statement. If that fails, sync() returns the Error.
  void send(std::string_view sql, const Parameters& parameters = {}, Plan plan = Plan::kept);
  // Executes the queued statements and returns the result of each, or the first Error: then none of
  // them has an effect. Within a transaction block that was started before, the whole block has
  // failed: call roll_back().
  Result<std::vector<Rows>> sync();
  // Queues one more statement, calls sync(), and returns the result of that statement.
  Result<Rows> query(std::string_view sql, const Parameters& parameters = {},
                     Plan plan = Plan::kept);
  // The same, but fails if the server accepts no writes: its rows might be outdated.
  Result<Rows> query_primary(std::string_view sql, const Parameters& parameters = {});
  // Whether the server reports when it becomes a standby or is set to read-only. A pooler does not
  // forward this; then, and while it is unknown, each transaction must ask (asks_for_writes).
  bool tells_its_state() const { return tells_its_state_; }
  // The check of query_primary(), after the sync() of a transaction's first statements. `asked` is
  // the result of `asks_for_writes`; not used if tells_its_state().
  Result<Done> check_primary(const Rows& asked);
  Result<Done> execute(std::string_view sql);
  // Has the server execute the queued statements without waiting; their results are discarded.
  void send_off();
  // Rolls back the open transaction block, if there is one and the connection is not lost.
  void roll_back();

  // True if the connection can no longer be used. Whether the statements in progress were executed
  // is then unknown, unless takes_no_writes().
  bool is_lost() const { return is_lost_; }
  // SQLSTATE of the server's last error, such as "40001"; empty if the connection was lost.
  const std::string& state() const { return state_; }
  // The server aborted a transaction that can be retried unchanged: 40001, 40P01, or one of its
  // prepared statements is missing or outdated.
  bool is_retryable() const { return state_ == "40001" || state_ == "40P01" || is_statement_void_; }
  // Whether statements can have names: true once the server is known to be reached directly.
  bool prepares() const { return naming_ == Naming::on; }
  // The server is now a standby or set to read-only: nothing was written. This connection is lost;
  // a new one might reach another server, or the same one in another state.
  bool takes_no_writes() const { return state_ == state_of_read_only; }
  // The time for which sync() waits for any bytes of the server; after that the connection is lost.
  void set_patience(std::chrono::milliseconds patience) { patience_ = patience; }
  // From now on `haste` also limits the waits of sync(). May be null.
  void heed(std::shared_ptr<const ShutdownDeadline> haste) { haste_ = std::move(haste); }

  // 150004 for 15.4.
  int server_version() const;
  // The process id that the server announced when we connected; a pooler announces any number.
  int announced_process() const;
  const Address& address() const { return address_; }

  // For poll(); -1 if the connection is lost.
  int socket() const;
  // Waits up to `time` for a NOTIFY on a channel that this connection listens to; returns how many
  // have arrived.
  std::size_t wait_for_notifications(std::chrono::milliseconds time);
  // Returns the channels of the notifications since the last call.
  std::vector<std::string> take_notifications();

 private:
  enum class Wanted { readable, writable_too };
  enum class Naming { unknown, on, off };
  // The statement whose result comes next. Except for `answer` they are Connection's, and the
  // caller gets no Rows of them.
  enum class Purpose { answer, preparation, process, forgetting, renewal };
  struct Expected {
    Purpose purpose = Purpose::answer;
    PreparedStatements::Pointer prepared = nullptr;  // of a preparation
    std::string forgotten = {};                      // the name
  };

  // False after `time`, or if the socket cannot be polled.
  bool wait(Wanted wanted, std::chrono::milliseconds time);
  bool flush();
  bool receive();  // reads until a result is complete
  Error lost();
  Error error_of(const pg_result* result);
  // Queues the statements by which the connection keeps its prepared ones in order.
  void look_after_statements();
  bool queue_own(const std::string& sql, Expected expected);
  bool prepare(const PreparedStatements::Pointer& statement);
  // Takes the purpose of this result, and notes its effect on the prepared statements.
  Purpose take_purpose(const Rows& rows, const pg_result* result);
  // Returns whether the error means that a prepared statement is missing or outdated.
  bool note_void_statement(const pg_result* result);
  void collect_notifications();

  const Address address_;
  pg_conn* handle_;
  bool is_lost_ = false;
  bool tells_its_state_ = false;
  int sent_off_ = 0;         // calls of send_off() whose results precede those of the next sync()
  bool is_refused_ = false;  // send() could not queue a statement
  bool is_queue_empty_ = true;  // no statement since the last sync() or send_off()
  Naming naming_ = Naming::unknown;
  bool wants_names_ = false;  // a statement would have one if the server were reached directly
  bool is_statement_void_ = false;  // of the last sync()
  bool must_forget_all_ = false;
  int void_names_ = 0;  // times that the server lacked a name, or had one that was to be new
  std::string state_;
  std::chrono::milliseconds patience_;
  std::shared_ptr<const ShutdownDeadline> haste_;
  std::vector<std::string> notifications_;
  PreparedStatements statements_;
  std::deque<Expected> expected_;
};

}  // namespace belay::postgres
