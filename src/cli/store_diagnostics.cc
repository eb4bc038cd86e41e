#include "cli/store_diagnostics.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "store/sqlite/connection.h"
#include "store/sqlite/migrations.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/sessions.h"
#include "store/sqlite/store_path.h"

namespace belay::cli {
namespace {

namespace fs = std::filesystem;
using sqlite::Connection;
using sqlite::Sessions;
using sqlite::Statement;
using Kind = Diagnostic::Kind;

constexpr std::uintmax_t kDiskBad = 10u << 20;
constexpr std::uintmax_t kDiskWarning = 200u << 20;
constexpr std::uintmax_t kLogWarning = 256u << 20;
constexpr std::size_t kHeldNodesMax = 5;

// Examples: "12.5 MB", "76.8 GB".
std::string bytes_text(std::uintmax_t bytes) {
  constexpr std::uintmax_t kGigabyte = 1u << 30;
  std::uintmax_t unit = bytes < kGigabyte ? 1u << 20 : kGigabyte;
  std::uintmax_t tenths = bytes / unit * 10 + bytes % unit * 10 / unit;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) +
         (unit == kGigabyte ? " GB" : " MB");
}

std::string folder_of(const std::string& path) {
  std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// Returns the nearest existing parent of `folder`.
std::string existing_folder(std::string folder) {
  std::error_code ignored;
  while (!fs::exists(folder, ignored) && folder != "/" && folder != ".") folder = folder_of(folder);
  return folder;
}

Diagnostic folder_finding(const std::string& path) {
  std::string folder = folder_of(path);
  std::string nearest = existing_folder(folder);
  if (::access(nearest.c_str(), W_OK | X_OK) != 0) {
    return {"folder", Kind::bad, nearest + " is not writable",
            "make it writable, or name another store with --store sqlite:PATH"};
  }
  if (nearest != folder) {
    return {"folder", Kind::warning, folder + " does not exist yet", "mkdir -p " + folder};
  }
  return {"folder", Kind::good, folder + " is writable", ""};
}

Diagnostic disk_finding(const std::string& path) {
  std::error_code failed;
  fs::space_info space = fs::space(existing_folder(folder_of(path)), failed);
  if (failed) return {"disk", Kind::warning, failed.message(), "check the disk"};
  std::string free = bytes_text(space.available) + " free";
  if (space.available < kDiskBad) return {"disk", Kind::bad, free, "free some space"};
  if (space.available < kDiskWarning) return {"disk", Kind::warning, free, "free some space"};
  return {"disk", Kind::good, free, ""};
}

Diagnostic damaged(std::string name, const Error& error) {
  return {std::move(name), Kind::bad, error.message, "see above; restore a backup if necessary"};
}

Diagnostic version_finding(Connection& connection) {
  auto id = connection.number("PRAGMA application_id");
  if (!id.ok()) return damaged("version", id.error());
  if (*id != sqlite::application_id) {
    return {"version", Kind::bad, "it is a SQLite file of another program",
            "name another file with --store sqlite:PATH"};
  }
  auto version = connection.number("PRAGMA user_version");
  if (!version.ok()) return damaged("version", version.error());
  auto known = static_cast<std::int64_t>(sqlite::migrations().size());
  std::string detail = "schema " + std::to_string(*version) + " of " + std::to_string(known);
  if (*version > known) return {"version", Kind::bad, detail, "use the newer Belay that wrote it"};
  if (*version < known) {
    return {"version", Kind::warning, detail,
            "none: the next command upgrades it; copy the file first if you might need the older "
            "version"};
  }
  return {"version", Kind::good, detail, ""};
}

Diagnostic integrity_finding(Connection& connection) {
  auto check = connection.prepare("PRAGMA integrity_check(1)");
  if (!check.ok()) return damaged("integrity", check.error());
  if (check->step() != Statement::Step::row) return damaged("integrity", connection.error());
  std::string said = check->text(0);
  if (said == "ok") return {"integrity", Kind::good, "every page and index is sound", ""};
  return {"integrity", Kind::bad, said, "restore the file from a backup"};
}

Diagnostic log_finding(Connection& connection, const std::string& path) {
  auto mode = connection.prepare("PRAGMA journal_mode");
  if (!mode.ok()) return damaged("wal", mode.error());
  if (mode->step() != Statement::Step::row) return damaged("wal", connection.error());
  if (mode->text(0) != "wal") {
    return {"wal", Kind::warning, "journal mode " + mode->text(0),
            "none: the next command enables the write-ahead log"};
  }
  std::error_code absent;
  std::uintmax_t size = fs::file_size(path + "-wal", absent);
  if (absent) size = 0;
  std::string detail = "write-ahead log of " + bytes_text(size);
  if (size < kLogWarning) return {"wal", Kind::good, detail, ""};
  return {"wal", Kind::warning, detail,
          "end processes that read the store for a long time; then it shrinks"};
}

Result<std::int64_t> living_sessions(Connection& connection, const std::string& path) {
  BELAY_TRY(std::unique_ptr<Sessions> sessions, Sessions::open(path));
  BELAY_TRY(Statement rows, connection.prepare("SELECT session_id FROM sessions"));
  std::int64_t count = 0;
  Statement::Step step = rows.step();
  for (; step == Statement::Step::row; step = rows.step()) {
    BELAY_TRY(bool alive, sessions->is_alive(SessionId(rows.uuid(0))));
    count += alive ? 1 : 0;
  }
  if (step == Statement::Step::failed) return connection.error();
  return count;
}

Diagnostic sessions_finding(Connection& connection, const std::string& path) {
  auto count = living_sessions(connection, path);
  if (!count.ok()) return damaged("sessions", count.error());
  return {"sessions", Kind::good,
          std::to_string(*count) + (*count == 1 ? " live process" : " live processes"), ""};
}

Diagnostic approvals_finding(Connection& connection, Clock& clock) {
  auto open = connection.number("SELECT count(*) FROM approvals WHERE status = 'open'");
  if (!open.ok()) return damaged("approvals", open.error());
  std::string now = std::to_string(clock.now().time_since_epoch().count());
  auto late = connection.number(
      "SELECT count(*) FROM approvals WHERE status = 'open' AND expires_at <= " + now);
  if (!late.ok()) return damaged("approvals", late.error());
  std::string detail = std::to_string(*open) + " open, " + std::to_string(*late) + " expired";
  if (*late == 0) return {"approvals", Kind::good, detail, ""};
  return {"approvals", Kind::warning, detail, "any command processes them: approvals list --all"};
}

Result<std::vector<std::string>> held_loop_days(Connection& connection) {
  BELAY_TRY(Statement rows, connection.prepare("SELECT key FROM records WHERE collection = "
                                               "'held_loops' ORDER BY key"));
  std::vector<std::string> days;
  Statement::Step step = rows.step();
  for (; step == Statement::Step::row; step = rows.step()) days.push_back(rows.text(0));
  if (step == Statement::Step::failed) return connection.error();
  return days;
}

void look_inside(const std::string& path, Clock& clock, std::vector<Diagnostic>& findings) {
  auto connection = Connection::open(path, Connection::Mode::read_only);
  if (!connection.ok()) return findings.push_back(damaged("open", connection.error()));
  (*connection)->leave_log_alone();
  findings.push_back(version_finding(**connection));
  if (findings.back().kind == Kind::bad) return;
  findings.push_back(integrity_finding(**connection));
  if (findings.back().kind == Kind::bad) return;
  findings.push_back(log_finding(**connection, path));
  findings.push_back(sessions_finding(**connection, path));
  findings.push_back(approvals_finding(**connection, clock));
  auto days = held_loop_days(**connection);
  if (!days.ok()) return findings.push_back(damaged("loop", days.error()));
  if (auto held = held_loops_finding(*days)) findings.push_back(*std::move(held));
}

Diagnostic file_finding(const std::string& path) {
  std::error_code ignored;
  auto only = fs::is_regular_file(path, ignored) ? sqlite::check_only_name(path) : Done{};
  if (!only.ok()) return {"store", Kind::bad, only.error().message, "see above"};
  if (fs::is_directory(path, ignored)) {
    return {"store", Kind::bad, path + " is a folder", "name a file in it"};
  }
  if (!fs::exists(path, ignored)) {
    return {"store", Kind::good, path + " does not exist yet; the first command creates it", ""};
  }
  std::uintmax_t size = fs::file_size(path, ignored);
  if (::access(path.c_str(), R_OK) != 0 || ::access(path.c_str(), W_OK) != 0) {
    return {"store", Kind::bad, path + " is not readable and writable", "check its permissions"};
  }
  return {"store", Kind::good, path + ", " + bytes_text(size), ""};
}

}  // namespace

std::optional<Diagnostic> held_loops_finding(const std::vector<std::string>& days) {
  if (days.empty()) return std::nullopt;
  // A key is "DATE AGENT NODE"; the newest day of each node comes last.
  std::map<std::string, std::string> newest;
  for (const std::string& day : days) {
    std::size_t space = std::min(day.find(' '), day.size());
    if (space < day.size()) newest[day.substr(space + 1)] = day.substr(0, space);
  }
  std::string detail;
  std::size_t named = 0;
  for (const auto& [node, date] : newest) {
    if (++named > kHeldNodesMax) break;
    detail += (detail.empty() ? "" : ", ") + node + " (" + date + ")";
  }
  if (newest.size() > kHeldNodesMax) {
    detail += " and " + std::to_string(newest.size() - kHeldNodesMax) + " more";
  }
  return Diagnostic{"loop", Kind::warning, "held for more than 100 ms by " + detail,
                    "wait in a coroutine, or use context.run_blocking() (docs/observability.md)"};
}

std::optional<std::string> path_of_store(const std::string& store) {
  constexpr std::string_view kSqlite = "sqlite:";
  if (!store.starts_with(kSqlite)) return std::nullopt;
  return store.substr(kSqlite.size());
}

std::vector<Diagnostic> diagnose_store(const std::string& store, Clock& clock) {
  std::optional<std::string> path = path_of_store(store);
  if (!path && store != "memory:") {
    return {{"store", Kind::bad, "it is not sqlite:PATH, memory: or postgresql://...",
             "name a file: --store sqlite:PATH"}};
  }
  if (!path) {
    return {{"store", Kind::warning, store + " is deleted when belay ends",
             "name a file to keep the runs: --store sqlite:PATH"}};
  }
  std::vector<Diagnostic> findings;
  auto named = sqlite::check_store_name(*path);
  if (!named.ok()) return {{"store", Kind::bad, named.error().message, "see above"}};
  // A missing folder is reported by another diagnostic.
  auto whole = sqlite::store_path(*path);
  if (whole.ok()) path = *std::move(whole);
  findings.push_back(file_finding(*path));
  if (findings.back().kind == Kind::bad) return findings;
  findings.push_back(folder_finding(*path));
  findings.push_back(disk_finding(*path));
  std::error_code ignored;
  if (fs::exists(*path, ignored)) look_inside(*path, clock, findings);
  return findings;
}

std::optional<std::int64_t> process_of(const std::string& store, const SessionId& session) {
  std::optional<std::string> path = path_of_store(store);
  if (!path || session.is_null()) return std::nullopt;
  auto connection = Connection::open(*path, Connection::Mode::read_only);
  if (!connection.ok()) return std::nullopt;
  (*connection)->leave_log_alone();
  auto row = (*connection)->prepare("SELECT pid FROM sessions WHERE session_id = ?");
  if (!row.ok()) return std::nullopt;
  row->bind(session);
  if (row->step() != Statement::Step::row || row->is_null(0)) return std::nullopt;
  return row->number(0);
}

}  // namespace belay::cli
