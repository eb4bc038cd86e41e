#include "cli/read_only_store.h"

#include <filesystem>

#include "cli/store_diagnostics.h"
#include "cli/store_name.h"
#include "store/postgres/address.h"
#include "store/postgres/connection.h"
#include "store/postgres/schema.h"
#include "store/sqlite/migrations.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/sqlite_snapshot.h"
#include "store/sqlite/store_path.h"

namespace belay::cli {
namespace {

Error refusal() { return error(ErrorCode::invalid, "The store is open read-only."); }

Error needs_migration(const std::string& store, std::int64_t version, std::int64_t known) {
  std::string schemas = "It has schema " + std::to_string(version) + ", this program uses schema " +
                        std::to_string(known) + ". ";
  std::string advice = version > known
                           ? "Use a program of the Belay that wrote it, or a newer one."
                           : "Copy the store, run any command of this program on the copy, which "
                             "migrates it, and name the copy with --store.";
  return error(ErrorCode::invalid, "The store " + shown_store(store) +
                                       " cannot be read unchanged. " + schemas + advice);
}

Result<std::unique_ptr<Store>> open_file(const std::string& store, const std::string& path) {
  BELAY_CHECK(sqlite::check_store_name(path));
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return error(ErrorCode::not_found, "There is no store at " + path + ". Name one with --store.");
  }
  BELAY_TRY(auto connection, sqlite::Connection::open(path, sqlite::Connection::Mode::read_only));
  connection->leave_log_alone();
  BELAY_TRY(std::int64_t id, connection->number("PRAGMA application_id"));
  if (id != sqlite::application_id) {
    return error(ErrorCode::invalid, path + " is not a store of Belay. Name one with --store.");
  }
  BELAY_TRY(std::int64_t version, connection->number("PRAGMA user_version"));
  auto known = static_cast<std::int64_t>(sqlite::migrations().size());
  if (version != known) return needs_migration(store, version, known);
  return std::unique_ptr<Store>(std::make_unique<ReadOnlyStore>(std::move(connection)));
}

}  // namespace

ReadOnlyStore::ReadOnlyStore(std::unique_ptr<sqlite::Connection> connection)
    : connection_(std::move(connection)) {}
ReadOnlyStore::~ReadOnlyStore() = default;

Task<Result<CommitOutcome>> ReadOnlyStore::commit(Commit) { co_return refusal(); }

Task<Result<Done>> ReadOnlyStore::read(Reader reader) {
  sqlite::SqliteSnapshot view(*connection_);
  co_return reader(view);
}

Result<SessionId> ReadOnlyStore::open_session() { return refusal(); }

Result<bool> ReadOnlyStore::is_alive(const SessionId&) { return refusal(); }

Result<std::unique_ptr<Store>> open_unchanged(const std::string& store, Clock& clock,
                                              Random& random) {
  if (std::optional<std::string> path = path_of_store(store)) return open_file(store, *path);
  if (!postgres::is_postgres_url(store)) {
    return error(ErrorCode::invalid,
                 "The store " + store + " exists in its process only. Name one with --store.");
  }
  BELAY_TRY(postgres::Address address, postgres::address_from(store));
  {
    BELAY_TRY(auto connection, postgres::Connection::open(address));
    BELAY_TRY(postgres::SchemaState state, postgres::examine_schema(*connection, address));
    if (state.version != state.known) {
      return needs_migration(store, static_cast<std::int64_t>(state.version),
                             static_cast<std::int64_t>(state.known));
    }
  }
  return open_postgres_store(store, clock, random);
}

}  // namespace belay::cli
