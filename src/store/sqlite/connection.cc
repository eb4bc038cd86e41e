#include "store/sqlite/connection.h"

#include <sqlite3.h>

#include <cstring>
#include <limits>

namespace belay::sqlite {
namespace {

std::string detail_of(int code, std::string_view detail) {
  return " (SQLite: " + std::string(detail.empty() ? sqlite3_errstr(code) : detail) + ")";
}

std::string in_store(const std::string& path, const char* problem, const std::string& detail,
                     const char* remedy) {
  return "Store \"" + path + "\" " + problem + detail + ". " + remedy + ".";
}

}  // namespace

std::int64_t clamped(std::uint64_t number) {
  constexpr std::uint64_t greatest = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(number < greatest ? number : greatest);
}

Error error_for(int code, const std::string& path, std::string_view detail) {
  std::string more = detail_of(code, detail);
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return belay::error(
          ErrorCode::unavailable,
          in_store(path, "was locked by another process for 5 s", more, "Try again later"));
    case SQLITE_FULL:
      return belay::error(ErrorCode::unavailable, in_store(path, "is on a full disk", more,
                                                           "Free some space and try again"));
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return belay::error(
          ErrorCode::unavailable,
          in_store(path, "is read-only", more, "Make the file and its folder writable"));
    case SQLITE_CANTOPEN:
      return belay::error(ErrorCode::unavailable,
                          in_store(path, "could not be opened", more,
                                   "Check the permissions of the file and its folder"));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return belay::error(ErrorCode::corrupt,
                          in_store(path, "is damaged", more, "Restore it from a backup"));
    case SQLITE_ERROR:
    case SQLITE_SCHEMA:
      return belay::error(ErrorCode::corrupt, in_store(path, "lacks tables of Belay", more,
                                                       "Restore it from a backup"));
    case SQLITE_CONSTRAINT:
      return belay::error(ErrorCode::conflict,
                          "Store \"" + path + "\" already contains such a row" + more + ".");
    case SQLITE_TOOBIG:
      return belay::error(ErrorCode::invalid, "A value is too large for store \"" + path +
                                                  "\": the maximum is 1 GB" + more + ".");
    default:
      return belay::error(ErrorCode::unavailable, in_store(path, "could not be read or written",
                                                           more, "Check the disk, then try again"));
  }
}

Statement::~Statement() {
  if (!statement_) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

Statement& Statement::bind(std::int64_t number) {
  sqlite3_bind_int64(statement_, next_++, number);
  return *this;
}

// An empty view can have a null pointer, which SQLite would bind as null.
Statement& Statement::bind(std::string_view text) {
  const char* begin = text.data() ? text.data() : "";
  sqlite3_bind_text64(statement_, next_++, begin, text.size(), SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind_null() {
  sqlite3_bind_null(statement_, next_++);
  return *this;
}

Statement& Statement::bind_blob(std::string_view bytes) {
  const char* begin = bytes.data() ? bytes.data() : "";
  sqlite3_bind_blob64(statement_, next_++, begin, bytes.size(), SQLITE_STATIC);
  return *this;
}

Statement& Statement::bind(const Uuid& id) {
  sqlite3_bind_blob64(statement_, next_++, id.bytes.data(), id.bytes.size(), SQLITE_STATIC);
  return *this;
}

Statement& Statement::bind(const Digest& digest) {
  sqlite3_bind_blob64(statement_, next_++, digest.data(), digest.size(), SQLITE_STATIC);
  return *this;
}

Statement::Step Statement::step() {
  int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return Step::row;
  return code == SQLITE_DONE ? Step::done : Step::failed;
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::int64_t Statement::number(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string Statement::text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  int size = sqlite3_column_bytes(statement_, column);
  return bytes ? std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size))
               : std::string();
}

void Statement::copy_blob(int column, std::uint8_t* to, std::size_t size) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  int stored = sqlite3_column_bytes(statement_, column);
  if (bytes && static_cast<std::size_t>(stored) == size) std::memcpy(to, bytes, size);
}

Uuid Statement::uuid(int column) const {
  Uuid id;
  copy_blob(column, id.bytes.data(), id.bytes.size());
  return id;
}

Digest Statement::digest(int column) const {
  Digest digest{};
  copy_blob(column, digest.data(), digest.size());
  return digest;
}

void Connection::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Result<std::unique_ptr<Connection>> Connection::open(const std::string& path, Mode mode) {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
              (mode == Mode::read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE);
  sqlite3* handle = nullptr;
  // A path that starts with a dot or a slash cannot be a URI or a special name.
  std::string name = path.starts_with('/') ? path : "./" + path;
  int code = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  auto connection = std::make_unique<Connection>(path, handle);
  if (code != SQLITE_OK) return error_for(code, path, handle ? sqlite3_errmsg(handle) : "");
  connection->wait_for_others(busy_timeout);
  return connection;
}

Connection::~Connection() {
  compiled_.clear();
  sqlite3_close(handle_);
}

Result<Done> Connection::execute(const std::string& sql) {
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return error();
  return Done{};
}

Result<std::int64_t> Connection::number(std::string_view sql) {
  BELAY_TRY(Statement statement, prepare(sql));
  Statement::Step step = statement.step();
  if (step == Statement::Step::failed) return error();
  return step == Statement::Step::row ? statement.number(0) : 0;
}

Result<Statement> Connection::prepare(std::string_view sql) {
  auto found = compiled_.find(sql);
  if (found == compiled_.end()) {
    sqlite3_stmt* statement = nullptr;
    int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                  SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (code != SQLITE_OK) return error();
    found = compiled_.emplace(sql, Compiled(statement)).first;
  }
  return Statement(found->second.get());
}

Result<std::int64_t> Connection::run(Statement statement) {
  Statement::Step step = Statement::Step::row;
  while (step == Statement::Step::row) step = statement.step();
  if (step == Statement::Step::failed) return error();
  return sqlite3_changes64(handle_);
}

std::int64_t Connection::last_inserted() const { return sqlite3_last_insert_rowid(handle_); }
bool Connection::in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }
bool Connection::is_read_only() const { return sqlite3_db_readonly(handle_, "main") == 1; }

void Connection::wait_for_others(std::chrono::milliseconds at_most) {
  sqlite3_busy_timeout(handle_, static_cast<int>(at_most.count()));
}

void Connection::leave_log_alone() {
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

void Connection::drop_cache() { sqlite3_db_release_memory(handle_); }

Error Connection::error() const { return error_for(code(), path_, sqlite3_errmsg(handle_)); }
int Connection::code() const { return sqlite3_extended_errcode(handle_); }

}  // namespace belay::sqlite
