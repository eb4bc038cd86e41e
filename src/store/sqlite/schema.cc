#include "store/sqlite/schema.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "store/sqlite/migrations.h"
#include "store/sqlite/store_path.h"

namespace belay::sqlite {
namespace {

// Files up to this size are checked completely when they are opened. Damage of a larger one is
// detected when a bad page is read.
constexpr std::int64_t quick_check_bytes_max = 4 << 20;
constexpr std::chrono::milliseconds switch_pause{20};

Error refuse(ErrorCode code, const std::string& path, std::string_view why) {
  return error(code, "Store \"" + path + "\" " + std::string(why));
}

Error system_error(const std::string& path, std::string_view what) {
  std::string why = std::string(what) + ": " + std::strerror(errno) +
                    ". Check the permissions of the file and its folder.";
  return refuse(ErrorCode::unavailable, path, why);
}

// Checks the file at the path before SQLite opens it. Opens no descriptor of the file: when a
// process closes one, the kernel releases every lock that SQLite holds on the file for other stores
// of the process. Returns false if the file does not exist.
Result<bool> is_there(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return false;
    return system_error(path, "could not be inspected");
  }
  if (S_ISDIR(status.st_mode)) {
    return refuse(ErrorCode::invalid, path, "is a folder. Name a file in it.");
  }
  if (!S_ISREG(status.st_mode)) {
    return refuse(ErrorCode::invalid, path, "is not a regular file. Name another file.");
  }
  if (access(path.c_str(), R_OK) != 0) return system_error(path, "could not be read");
  BELAY_CHECK(check_only_name(path));
  return true;
}

// SQLite would accept any short file as its own. Reads through SQLite's own descriptor, for the
// reason given at is_there().
Result<Done> check_magic(Connection& connection, const std::string& path) {
  sqlite3_file* file = nullptr;
  int asked = sqlite3_file_control(connection.handle(), "main", SQLITE_FCNTL_FILE_POINTER,
                                   static_cast<void*>(&file));
  if (asked != SQLITE_OK || !file || !file->pMethods)
    return system_error(path, "could not be read");
  sqlite3_int64 size = 0;
  if (file->pMethods->xFileSize(file, &size) != SQLITE_OK) {
    return system_error(path, "could not be read");
  }
  if (size == 0) return Done{};
  char magic[16] = {};
  int code = file->pMethods->xRead(file, magic, sizeof magic, 0);
  if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) return error_for(code, path, "");
  if (std::memcmp(magic, "SQLite format 3", sizeof magic) == 0) return Done{};
  return refuse(ErrorCode::corrupt, path,
                "is not a SQLite file. Name another file, or move this one.");
}

// Creates the file and returns true; false if it exists. Only its user can read it, and SQLite
// gives the -wal and -shm files the same permissions.
Result<bool> create_private(const std::string& path) {
  if (mknod(path.c_str(), S_IFREG | 0600, 0) == 0) return true;
  if (errno == EEXIST) return false;
  if (errno == ENOENT) {
    return refuse(ErrorCode::invalid, path,
                  "is in a folder that does not exist. Create the folder.");
  }
  return system_error(path, "could not be created");
}

// Whether the file is empty: a new one, or one whose creator was killed before the first migration
// was committed.
Result<bool> is_blank(Connection& connection) {
  BELAY_TRY(std::int64_t id, connection.number("PRAGMA application_id"));
  BELAY_TRY(std::int64_t tables, connection.number("SELECT count(*) FROM sqlite_schema"));
  return id == 0 && tables == 0;
}

Result<Done> check_ours(Connection& connection, const std::string& path) {
  BELAY_TRY(bool blank, is_blank(connection));
  if (blank) return Done{};
  BELAY_TRY(std::int64_t id, connection.number("PRAGMA application_id"));
  if (id != application_id) {
    return refuse(ErrorCode::corrupt, path,
                  "is a SQLite file of another program. Name another file.");
  }
  auto known = static_cast<std::int64_t>(migrations().size());
  BELAY_TRY(std::int64_t version, connection.number("PRAGMA user_version"));
  if (version > known) {
    return refuse(ErrorCode::corrupt, path,
                  "has schema version " + std::to_string(version) + "; this Belay supports up to " +
                      std::to_string(known) + ". Use a newer Belay.");
  }
  return Done{};
}

Result<Done> check_undamaged(Connection& connection, const std::string& path) {
  BELAY_TRY(std::int64_t pages, connection.number("PRAGMA page_count"));
  BELAY_TRY(std::int64_t page_size, connection.number("PRAGMA page_size"));
  if (pages * page_size > quick_check_bytes_max) return Done{};
  BELAY_TRY(Statement check, connection.prepare("PRAGMA quick_check(1)"));
  if (check.step() != Statement::Step::row) return connection.error();
  if (check.text(0) == "ok") return Done{};
  return refuse(ErrorCode::corrupt, path, "is damaged. Restore it from a backup.");
}

Result<Done> switch_to_log(Connection& connection) {
  BELAY_TRY(Statement mode, connection.prepare("PRAGMA journal_mode = WAL"));
  if (mode.step() != Statement::Step::row) return connection.error();
  if (mode.text(0) != "wal") {
    return error(ErrorCode::unavailable,
                 "The file system of the store does not support SQLite's write-ahead log. Use a "
                 "local disk.");
  }
  // The statement writes the first page in its last step.
  if (mode.step() != Statement::Step::done) return connection.error();
  return Done{};
}

Result<Done> set_up(Connection& connection) {
  // Both apply only to a file without pages: WAL mode is stored in the file, so that a later
  // opening writes nothing here. The first page must be synced before any other page is written: if
  // it were missing after a power failure, the file could not be recognized as a store.
  BELAY_CHECK(connection.execute("PRAGMA page_size = 8192; PRAGMA synchronous = NORMAL"));
  // Two processes can switch a new file to WAL at the same time; SQLite does not wait in this case.
  Result<Done> switched = switch_to_log(connection);
  for (auto left = Connection::busy_timeout; left.count() > 0; left -= switch_pause) {
    if (switched.ok() || (connection.code() & 0xff) != SQLITE_BUSY) break;
    sqlite3_sleep(static_cast<int>(switch_pause.count()));
    switched = switch_to_log(connection);
  }
  BELAY_CHECK(std::move(switched));
  // FULL syncs the log in every COMMIT. No automatic checkpoint: Writer::checkpoint_wal() does it.
  return connection.execute(
      "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA temp_store = MEMORY;"
      "PRAGMA foreign_keys = OFF; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF");
}

Result<Done> apply(Connection& connection, std::size_t version, Clock& clock) {
  const store::Migration& migration = migrations()[version - 1];
  BELAY_CHECK(connection.execute(std::string(migration.sql)));
  BELAY_TRY(Statement note, connection.prepare("INSERT INTO migrations VALUES (?, ?, ?, ?)"));
  Digest checksum = sha256(migration.sql);
  note.bind(static_cast<std::uint64_t>(version)).bind(migration.name);
  note.bind(checksum).bind(clock.now());
  BELAY_CHECK(connection.run(std::move(note)));
  return connection.execute("PRAGMA user_version = " + std::to_string(version));
}

// REQUIRES: a write transaction, because two processes can open a new file at the same time.
Result<Done> migrate(Connection& connection, const std::string& path, Clock& clock) {
  BELAY_CHECK(check_ours(connection, path));
  BELAY_TRY(bool blank, is_blank(connection));
  if (blank) {
    BELAY_CHECK(connection.execute(
        "PRAGMA application_id = " + std::to_string(application_id) +
        "; CREATE TABLE migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL,"
        " checksum BLOB NOT NULL, applied_at INTEGER NOT NULL) STRICT"));
  }
  BELAY_TRY(std::int64_t version, connection.number("PRAGMA user_version"));
  for (std::size_t known = 1; known <= static_cast<std::size_t>(version); ++known) {
    BELAY_TRY(Statement row,
              connection.prepare("SELECT checksum FROM migrations WHERE version = ?"));
    row.bind(static_cast<std::uint64_t>(known));
    if (row.step() != Statement::Step::row ||
        row.digest(0) != sha256(migrations()[known - 1].sql)) {
      return refuse(ErrorCode::corrupt, path,
                    "was created with a different migration " + std::to_string(known) +
                        ". Use the Belay that created it.");
    }
  }
  for (auto next = static_cast<std::size_t>(version) + 1; next <= migrations().size(); ++next) {
    BELAY_CHECK(apply(connection, next, clock));
  }
  return Done{};
}

Result<Done> migrate_at_once(Connection& connection, const std::string& path, Clock& clock) {
  BELAY_CHECK(connection.execute("BEGIN IMMEDIATE"));
  auto migrated = migrate(connection, path, clock);
  if (migrated.ok()) migrated = connection.execute("COMMIT");
  if (!migrated.ok() && connection.in_transaction()) (void)connection.execute("ROLLBACK");
  return migrated;
}

// If an fsync has failed, pages that never reached the disk can still be in the kernel's cache. The
// contents of the log can therefore be trusted only after they have been copied into the file and
// synced there. If another process has the store open, it has done this, and the log is busy.
Result<Done> end_recovery(Connection& connection, const std::string& path) {
  connection.wait_for_others(std::chrono::milliseconds(200));
  BELAY_TRY(Statement checkpoint, connection.prepare("PRAGMA wal_checkpoint(TRUNCATE)"));
  if (checkpoint.step() != Statement::Step::row) return connection.error();
  connection.wait_for_others(Connection::busy_timeout);
  bool is_in_use = checkpoint.number(0) != 0;
  if (is_in_use) return Done{};
  BELAY_TRY(std::int64_t pages, connection.number("PRAGMA page_count"));
  BELAY_TRY(std::int64_t page_size, connection.number("PRAGMA page_size"));
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return system_error(path, "could not be inspected");
  if (status.st_size < pages * page_size) {
    // Another process can have committed since: its new pages are in the log.
    struct stat log{};
    if (stat((path + "-wal").c_str(), &log) == 0 && log.st_size > 0) return Done{};
    return refuse(ErrorCode::corrupt, path, "is truncated. Restore it from a backup.");
  }
  return Done{};
}

Result<Done> prepare_file(Connection& connection, const std::string& path, Clock& clock) {
  BELAY_CHECK(check_magic(connection, path));
  BELAY_CHECK(check_ours(connection, path));
  if (connection.is_read_only()) {
    return refuse(ErrorCode::unavailable, path, "is read-only. Make the file writable.");
  }
  BELAY_CHECK(check_undamaged(connection, path));
  BELAY_CHECK(set_up(connection));
  BELAY_CHECK(migrate_at_once(connection, path, clock));
  return end_recovery(connection, path);
}

}  // namespace

Result<std::unique_ptr<Connection>> open_store_file(const std::string& path, Clock& clock) {
  BELAY_TRY(bool exists, is_there(path));
  bool is_created_here = false;
  if (!exists) {
    BELAY_TRY(is_created_here, create_private(path));
  }
  BELAY_TRY(auto connection, Connection::open(path, Connection::Mode::read_write));
  auto prepared = prepare_file(*connection, path, clock);
  if (prepared.ok()) return connection;
  connection->leave_log_alone();
  connection.reset();
  if (is_created_here) unlink(path.c_str());
  return std::move(prepared).error();
}

}  // namespace belay::sqlite
