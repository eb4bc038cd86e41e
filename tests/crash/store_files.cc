#include "tests/crash/store_files.h"

#include <sqlite3.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>

namespace belay::crash {
namespace {

struct Close {
  void operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
};
using Connection = std::unique_ptr<sqlite3, Close>;

// A store can be locked briefly if other processes use it.
constexpr int kLockedMaxMs = 2'000;

Result<Connection> connect(const std::string& folder) {
  sqlite3* raw = nullptr;
  int code = sqlite3_open_v2(store_in(folder).c_str(), &raw, SQLITE_OPEN_READWRITE, nullptr);
  Connection connection(raw);
  if (code == SQLITE_OK) sqlite3_busy_timeout(raw, kLockedMaxMs);
  if (code == SQLITE_OK) return connection;
  return error(ErrorCode::unavailable, store_in(folder) + ": " + sqlite3_errstr(code));
}

int keep_row(void* lines, int count, char** texts, char**) {
  for (int i = 0; i < count; ++i) {
    static_cast<std::vector<std::string>*>(lines)->emplace_back(texts[i] ? texts[i] : "");
  }
  return 0;
}

}  // namespace

std::string new_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "belay-crash-XXXXXX").string();
  BELAY_ASSERT(::mkdtemp(name.data()) != nullptr);
  return name;
}

void remove_folder(const std::string& folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

std::string store_in(const std::string& folder) { return folder + "/belay.db"; }

void copy_store(const std::string& from, const std::string& to) {
  std::filesystem::create_directories(to);
  for (std::string_view ending : {"", "-wal"}) {
    std::string source = store_in(from) + std::string(ending);
    if (std::filesystem::exists(source)) {
      std::filesystem::copy_file(source, store_in(to) + std::string(ending));
    }
  }
}

std::vector<std::string> integrity_faults(const std::string& folder) {
  auto connection = connect(folder);
  if (!connection.ok()) return {connection.error().message};
  std::vector<std::string> lines;
  int code = sqlite3_exec(connection->get(), "PRAGMA integrity_check", keep_row, &lines, nullptr);
  if (code != SQLITE_OK) lines.emplace_back(sqlite3_errmsg(connection->get()));
  if (lines == std::vector<std::string>{"ok"}) return {};
  return lines;
}

Result<int> change_behind_its_back(const std::string& folder, const std::string& sql) {
  BELAY_TRY(Connection connection, connect(folder));
  if (sqlite3_exec(connection.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return error(ErrorCode::invalid, sql + ": " + sqlite3_errmsg(connection.get()));
  }
  return sqlite3_changes(connection.get());
}

Result<std::vector<std::string>> rows_behind_its_back(const std::string& folder,
                                                      const std::string& sql) {
  BELAY_TRY(Connection connection, connect(folder));
  std::vector<std::string> rows;
  if (sqlite3_exec(connection.get(), sql.c_str(), keep_row, &rows, nullptr) != SQLITE_OK) {
    return error(ErrorCode::invalid, sql + ": " + sqlite3_errmsg(connection.get()));
  }
  return rows;
}

}  // namespace belay::crash
