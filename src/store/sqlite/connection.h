#pragma once
// store/sqlite/connection.h - RAII wrapper of SQLite's C API: a connection with its compiled
// statements, and one use of a statement.
//
// Threading: a Connection and everything made from it belong to one thread at a time.

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "belay/ids.h"
#include "belay/rows.h"
#include "store/enum_names.h"

struct sqlite3;
struct sqlite3_stmt;

namespace belay::sqlite {

// Converts an unsigned number, such as a seq or a limit, to SQLite's signed integer; returns the
// maximum if it is out of range.
std::int64_t clamped(std::uint64_t number);

// One use of a compiled statement: bind from the left, then step. The destructor resets it. Texts
// and blobs are not copied: they must live until then.
class Statement {
 public:
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  Statement(Statement&& other) noexcept
      : statement_(std::exchange(other.statement_, nullptr)), next_(other.next_) {}
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  Statement& bind(std::int64_t number);
  Statement& bind(std::uint64_t number) { return bind(clamped(number)); }
  Statement& bind(Instant instant) { return bind(instant.time_since_epoch().count()); }
  Statement& bind(std::string_view text);
  Statement& bind_null();
  Statement& bind_blob(std::string_view bytes);
  Statement& bind(const Uuid& id);
  Statement& bind_or_null(const Uuid& id) { return id.is_null() ? bind_null() : bind(id); }
  Statement& bind(const Digest& digest);
  Statement& bind(bool) = delete;
  Statement& bind(const char*) = delete;
  template <typename E>
    requires(store::enum_names<E>.size() > 0)
  Statement& bind(E value) {
    return bind(store::enum_name(value));
  }

  // Advances to the next row. After `failed`, Connection::error() returns the Error.
  enum class Step { row, done, failed };
  Step step();

  // Columns of the row, from 0. A null reads as an empty text, 0, or the null id.
  bool is_null(int column) const;
  std::int64_t number(int column) const;
  std::uint64_t natural(int column) const { return static_cast<std::uint64_t>(number(column)); }
  Instant instant(int column) const { return Instant(std::chrono::microseconds(number(column))); }
  std::string text(int column) const;  // also of a blob
  Uuid uuid(int column) const;
  Digest digest(int column) const;

 private:
  void copy_blob(int column, std::uint8_t* to, std::size_t size) const;

  sqlite3_stmt* statement_;
  int next_ = 1;
};

class Connection {
 public:
  enum class Mode { read_only, read_write };

  // REQUIRES: `path` is an existing file, not a special name of SQLite such as ":memory:".
  static Result<std::unique_ptr<Connection>> open(const std::string& path, Mode mode);
  // Owns `handle`; for open().
  Connection(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // Runs a script without results.
  Result<Done> execute(const std::string& sql);
  // Returns the first column of a query's first row; 0 without a row.
  Result<std::int64_t> number(std::string_view sql);

  // Returns a statement that is compiled once per connection. Fails if the schema does not match.
  Result<Statement> prepare(std::string_view sql);
  // Executes a statement, discards its rows, and returns how many rows it changed.
  Result<std::int64_t> run(Statement statement);

  std::int64_t last_inserted() const;
  bool in_transaction() const;
  bool is_read_only() const;
  // Limits the time for which a statement waits for other writers; busy_timeout after open().
  static constexpr std::chrono::milliseconds busy_timeout{5'000};
  void wait_for_others(std::chrono::milliseconds at_most);
  // Frees the cached pages, so that the next statement reads the file. REQUIRES: no transaction.
  void drop_cache();
  // The destructor then does not checkpoint the write-ahead log: for a file of another program.
  void leave_log_alone();

  // The Error of this connection's last failure.
  Error error() const;
  // The extended SQLite code of the last failure.
  int code() const;

  sqlite3* handle() const { return handle_; }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  using Compiled = std::unique_ptr<sqlite3_stmt, Finalize>;
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  std::string path_;
  sqlite3* handle_;
  std::unordered_map<std::string, Compiled, TextHash, std::equal_to<>> compiled_;
};

// The Error for SQLite's extended result code.
Error error_for(int code, const std::string& path, std::string_view detail);

}  // namespace belay::sqlite
