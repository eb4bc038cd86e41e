#include "store/postgres/schema.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "store/postgres/migrations.h"
#include "store/postgres/script_statements.h"
#include "store/postgres/sqlstate_messages.h"
#include "store/postgres/transaction_retry.h"

namespace belay::postgres {
namespace {

constexpr int oldest_server = 140'000;
constexpr std::string_view compatible_mark = "-- compatible from: ";
// A migration might wait for that of another process, or rewrite large tables.
constexpr std::chrono::minutes migration_patience{60};
constexpr std::chrono::seconds usual_patience{30};

Error refuse(ErrorCode code, const Address& address, const std::string& why) {
  return error(code, "The store, " + address.shown + ", " + why);
}

std::string shown_version(int version) {
  std::string major = std::to_string(version / 10'000);
  if (version >= 100'000) return major + "." + std::to_string(version % 10'000);
  return major + "." + std::to_string(version / 100 % 100) + "." + std::to_string(version % 100);
}

// The state of the server and the schema.
struct Situation {
  std::string user;
  std::string database;
  bool is_standby = false;
  bool is_read_only = false;
  bool has_schema = false;
  bool has_migrations = false;  // a table of this name with Belay's columns
  bool has_other_tables = false;
  std::string encoding;
  bool may_use_schema = false;  // false also without a schema
  std::string closed_tables;    // tables and the sequence that our user may not read and write
  std::string absent_tables;    // tables of Belay that do not exist
};

Result<Situation> look(Connection& connection, const Address& address) {
  // Reads the catalog directly: a lookup by name (regclass) requires privileges on the schema.
  static constexpr std::string_view sql =
      "SELECT current_user::text, current_database()::text, pg_is_in_recovery(),"
      " current_setting('transaction_read_only') = 'on',"
      " EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1),"
      " (SELECT count(*) = 2 FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid"
      "   JOIN pg_attribute a ON a.attrelid = c.oid WHERE n.nspname = $1"
      "   AND c.relname = 'migrations' AND a.attname IN ('checksum', 'compatible_from')),"
      " EXISTS (SELECT 1 FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid"
      "   WHERE n.nspname = $1 AND c.relname = ANY($2)),"
      " current_setting('server_encoding'),"
      " coalesce((SELECT has_schema_privilege(oid, 'USAGE') FROM pg_namespace"
      "   WHERE nspname = $1), false),"
      " (SELECT string_agg(c.relname, ', ' ORDER BY c.relname)"
      "   FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid"
      "   WHERE n.nspname = $1 AND (c.relname = ANY($2) AND c.relkind = 'r' AND NOT"
      "   (has_table_privilege(c.oid, 'SELECT') AND (c.relname = 'migrations' OR"
      "     (has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE')"
      "       AND has_table_privilege(c.oid, 'DELETE'))))"
      "     OR c.relkind = 'S' AND NOT has_sequence_privilege(c.oid, 'USAGE')"
      "       AND c.relname = 'put_numbers')),"
      " (SELECT string_agg(t.name, ', ' ORDER BY t.name) FROM unnest($2) AS t (name)"
      "   WHERE NOT EXISTS (SELECT 1 FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid"
      "     WHERE n.nspname = $1 AND c.relname = t.name))";
  Column names(Type::text);
  for (std::string_view name : table_names()) names.add(name);
  Parameters parameters;
  parameters.add(std::string_view(address.schema)).add(names);
  BELAY_TRY(Rows row, connection.query(sql, parameters));
  Situation found;
  found.user = row.text(0, 0);
  found.database = row.text(0, 1);
  found.is_standby = row.boolean(0, 2);
  found.is_read_only = row.boolean(0, 3);
  found.has_schema = row.boolean(0, 4);
  found.has_migrations = row.boolean(0, 5);
  found.has_other_tables = row.boolean(0, 6) && !found.has_migrations;
  found.encoding = row.text(0, 7);
  found.may_use_schema = row.boolean(0, 8);
  found.closed_tables = row.text(0, 9);
  found.absent_tables = row.text(0, 10);
  return found;
}

Result<Done> check_server(const Situation& found, const Address& address) {
  if (found.is_standby || found.is_read_only) {
    return no_writes_at(address, found.is_standby);
  }
  if (found.encoding != "UTF8") {
    return refuse(ErrorCode::invalid, address,
                  "stores texts in " + found.encoding +
                      ". Create a database with ENCODING 'UTF8', and use it in the store's URL.");
  }
  if (found.has_other_tables) {
    return refuse(
        ErrorCode::corrupt, address,
        "has a schema " + address.schema +
            " with tables of another program. Choose another with schema= in the store's URL.");
  }
  return Done{};
}

// The applied migrations; `version` is their number.
struct Applied {
  std::size_t version = 0;
  bool is_current() const { return version >= migrations().size(); }
};

// A migration and its row are written in one transaction, so the row was deleted afterwards.
Error half_migrated(const Address& address, int version) {
  return refuse(
      ErrorCode::corrupt, address,
      "has a schema " + address.schema + " without a record of migration " +
          std::to_string(version) +
          ". Restore it from a backup, or choose another with schema= in the store's URL.");
}

Result<Applied> applied_migrations(Connection& connection, const Address& address) {
  BELAY_TRY(Rows rows, connection.query("SELECT version::bigint, checksum, compatible_from::bigint"
                                        " FROM belay.migrations ORDER BY version"));
  auto known = static_cast<std::int64_t>(migrations().size());
  for (int i = 0; i < rows.count(); ++i) {
    std::int64_t version = rows.number(i, 0);
    if (version > known) {
      if (rows.number(i, 2) <= known) continue;
      return refuse(ErrorCode::corrupt, address,
                    "has schema version " + std::to_string(version) +
                        "; this Belay supports up to " + std::to_string(known) +
                        ". Use a newer Belay.");
    }
    if (version != i + 1) return half_migrated(address, i + 1);
    if (rows.digest(i, 1) != sha256(migrations()[static_cast<std::size_t>(i)].sql)) {
      return refuse(ErrorCode::corrupt, address,
                    "was created with a different migration " + std::to_string(i + 1) +
                        ". Use the Belay that created it.");
    }
  }
  if (rows.count() == 0) return half_migrated(address, 1);
  return Applied{static_cast<std::size_t>(rows.count())};
}

// Returns the oldest version of Belay that can use the schema after this migration.
std::int64_t compatible_from(const store::Migration& migration, std::size_t version) {
  auto oldest = static_cast<std::int64_t>(version);
  std::size_t mark = migration.sql.find(compatible_mark);
  if (mark == std::string_view::npos) return oldest;
  std::string_view number = migration.sql.substr(mark + compatible_mark.size());
  std::from_chars(number.data(), number.data() + number.size(), oldest);
  return oldest;
}

void send_migration(Connection& connection, std::size_t version) {
  const store::Migration& migration = migrations()[version - 1];
  for (std::string_view statement : statements_of(migration.sql)) connection.send(statement);
  Parameters note;
  note.add(static_cast<std::int64_t>(version)).add(migration.name).add(sha256(migration.sql));
  note.add(compatible_from(migration, version));
  connection.send(
      "INSERT INTO belay.migrations (version, name, checksum, compatible_from)"
      " VALUES ($1::integer, $2, $3, $4::integer)",
      note);
}

// REQUIRES: the transaction holds the advisory lock. The schema is read again under it: another
// process might have migrated it since the first read.
Result<Done> migrate_locked(Connection& connection, const Address& address,
                            std::chrono::milliseconds lock_patience) {
  BELAY_TRY(Situation found, look(connection, address));
  BELAY_CHECK(check_server(found, address));
  Applied applied;
  if (found.has_migrations) {
    BELAY_TRY(applied, applied_migrations(connection, address));
  } else if (!found.has_schema) {
    // Not IF NOT EXISTS, which requires the privilege even if the schema exists.
    connection.send("CREATE SCHEMA \"" + address.schema + "\"");
  }
  connection.send("SET LOCAL lock_timeout = " + std::to_string(lock_patience.count()));
  for (std::size_t next = applied.version + 1; next <= migrations().size(); ++next) {
    send_migration(connection, next);
  }
  connection.send("COMMIT");
  BELAY_CHECK(connection.sync());
  return Done{};
}

Result<Done> migrate(Connection& connection, const Address& address,
                     std::chrono::milliseconds lock_patience) {
  // READ COMMITTED: statements after the lock must see the migration of a process that held it
  // before.
  connection.send("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE");
  connection.send("SELECT pg_advisory_xact_lock(hashtextextended('belay schema ' || $1, 0))",
                  Parameters().add(std::string_view(address.schema)));
  BELAY_CHECK(connection.sync());
  return migrate_locked(connection, address, lock_patience);
}

// Names the process whose transaction has used one of our tables for the longest time.
Error held_up(Connection& connection, const Address& address, int tries, const Error& last) {
  static constexpr std::string_view sql =
      "SELECT a.pid::bigint, coalesce(nullif(a.application_name, ''), 'without a name'),"
      " coalesce(a.usename::text, ''), c.relname::text,"
      " coalesce(extract(epoch FROM clock_timestamp() - a.xact_start)::bigint, 0)"
      " FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid"
      " JOIN pg_class c ON c.oid = l.relation JOIN pg_namespace n ON n.oid = c.relnamespace"
      " WHERE n.nspname = $1 AND c.relkind = 'r' AND l.granted AND l.pid <> pg_backend_pid()"
      " AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
      " ORDER BY a.xact_start, a.pid LIMIT 1";
  std::string why =
      "was not upgraded and is unchanged, because it could not acquire its locks in " +
      std::to_string(tries) + " tries: ";
  Parameters parameters;
  parameters.add(std::string_view(address.schema));
  auto found = connection.query(sql, parameters);
  if (!found.ok() || found->count() == 0) {
    return refuse(ErrorCode::unavailable, address,
                  why + last.message.substr(0, last.message.find(';')) +
                      ". Find the owner of the lock in pg_locks and pg_prepared_xacts, and reopen "
                      "the store.");
  }
  std::string pid = std::to_string(found->number(0, 0));
  return refuse(ErrorCode::unavailable, address,
                why + "process " + pid + " (" + found->text(0, 1) + ", user \"" +
                    found->text(0, 2) + "\") has locked its table " + found->text(0, 3) +
                    " in a transaction for " + std::to_string(found->number(0, 4)) +
                    " s. End that transaction, or run SELECT pg_terminate_backend(" + pid +
                    "), and reopen the store.");
}

// Releases all locks between two tries, so that processes that wait behind the migration continue.
Result<Done> migrate_between_others(Connection& connection, const Address& address,
                                    const MigrationLocks& locks) {
  TransactionRetry repetition(locks.tries, locks.patience / 4, locks.patience);
  while (true) {
    auto migrated = migrate(connection, address, locks.patience);
    connection.roll_back();
    if (migrated.ok() || connection.state() != state_of_lock) return migrated;
    if (repetition.should_retry()) continue;
    return held_up(connection, address, repetition.tries(), migrated.error());
  }
}

Error missing_rights(const Situation& found, const Address& address) {
  std::string user = " TO \"" + found.user + "\"";
  std::string schema = "SCHEMA \"" + address.schema + "\"";
  std::string why = "does not permit its user to use or create the schema " + address.schema;
  std::string grants = "GRANT CREATE ON DATABASE \"" + found.database + "\"" + user;
  if (found.has_migrations) {
    if (found.may_use_schema)
      why = "does not permit its user to read and write " + found.closed_tables;
    grants = "GRANT USAGE ON " + schema + user +
             " and GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN " + schema + user +
             " and GRANT USAGE ON ALL SEQUENCES IN " + schema + user;
    if (found.may_use_schema && found.closed_tables.empty()) {
      return refuse(ErrorCode::unavailable, address,
                    "does not permit its user to upgrade the schema " + address.schema +
                        ". Let the owner of the schema open it first: belay store stats.");
    }
  } else if (found.has_schema) {
    grants = "GRANT USAGE, CREATE ON " + schema + user;
  }
  return refuse(ErrorCode::unavailable, address,
                why + ". As the owner of the database, run: " + grants + ".");
}

// Rejects a schema that our user may not use, before anything is written.
Result<Done> check_tables(const Address& address, const Situation& found) {
  if (!found.has_migrations) return Done{};
  if (!found.may_use_schema || !found.closed_tables.empty()) return missing_rights(found, address);
  return Done{};
}

Result<Done> check_whole(const Address& address, const Situation& found, const Applied& applied) {
  if (!applied.is_current() || found.absent_tables.empty()) return Done{};
  return refuse(
      ErrorCode::corrupt, address,
      "lacks " + found.absent_tables + ", which its migrations created in the schema " +
          address.schema +
          ". Restore it from a backup, or choose another with schema= in the store's URL.");
}

Result<Done> bring_up_to_date(Connection& connection, const Address& address,
                              const Situation& found, const MigrationLocks& locks) {
  if (found.has_migrations) {
    BELAY_TRY(Applied applied, applied_migrations(connection, address));
    BELAY_CHECK(check_whole(address, found, applied));
    if (applied.is_current()) return Done{};
  }
  connection.set_patience(migration_patience);
  auto migrated = migrate_between_others(connection, address, locks);
  connection.set_patience(usual_patience);
  return migrated;
}

// Whether our user may create the schema or its tables, if they do not exist.
Result<bool> may_make(Connection& connection, const Address& address, const Situation& found) {
  if (found.has_migrations) return true;
  Parameters parameters;
  parameters.add(std::string_view(address.schema));
  std::string_view sql =
      "SELECT $1::text IS NOT NULL AND has_database_privilege(current_database(), 'CREATE')";
  if (found.has_schema) {
    sql = "SELECT has_schema_privilege($1, 'USAGE') AND has_schema_privilege($1, 'CREATE')";
  }
  BELAY_TRY(Rows row, connection.query(sql, parameters));
  return row.boolean(0, 0);
}

Result<Done> check_version(Connection& connection, const Address& address) {
  if (connection.server_version() >= oldest_server) return Done{};
  return refuse(ErrorCode::unavailable, address,
                "requires PostgreSQL 14 or newer; this is " +
                    shown_version(connection.server_version()) + ". Use a newer server.");
}

}  // namespace

std::span<const std::string_view> table_names() {
  static constexpr std::array<std::string_view, 19> names{
      "migrations", "sessions",     "threads",        "runs",         "queues",
      "run_starts", "checkpoints",  "channel_values", "events",       "approvals",
      "records",    "record_index", "tasks",          "effects",      "outbox",
      "blobs",      "blob_puts",    "daily_sums",     "thread_values"};
  return names;
}

namespace {

Result<SchemaState> examine_once(Connection& connection, const Address& address) {
  BELAY_CHECK(check_version(connection, address));
  BELAY_TRY(Situation found, look(connection, address));
  BELAY_CHECK(check_server(found, address));
  BELAY_CHECK(check_tables(address, found));
  BELAY_TRY(bool is_allowed, may_make(connection, address, found));
  if (!is_allowed) return missing_rights(found, address);
  SchemaState state;
  state.known = migrations().size();
  state.exists = found.has_migrations;
  if (!state.exists) return state;
  BELAY_TRY(Applied applied, applied_migrations(connection, address));
  BELAY_CHECK(check_whole(address, found, applied));
  state.version = applied.version;
  return state;
}

Result<Done> prepare_once(Connection& connection, const Address& address,
                          const MigrationLocks& locks) {
  BELAY_CHECK(check_version(connection, address));
  BELAY_TRY(Situation found, look(connection, address));
  BELAY_CHECK(check_server(found, address));
  BELAY_CHECK(check_tables(address, found));
  auto prepared = bring_up_to_date(connection, address, found, locks);
  if (!prepared.ok() && connection.state() == "42501") return missing_rights(found, address);
  return prepared;
}

}  // namespace

Result<SchemaState> examine_schema(Connection& connection, const Address& address) {
  return with_retry(connection, [&] { return examine_once(connection, address); });
}

Result<Done> prepare_schema(Connection& connection, const Address& address,
                            const MigrationLocks& locks) {
  return with_retry(connection, [&] { return prepare_once(connection, address, locks); });
}

Result<std::vector<std::string>> durability_of(Connection& connection) {
  BELAY_TRY(Rows rows,
            connection.query("SELECT name::text FROM pg_settings WHERE setting = 'off' AND name IN"
                             " ('fsync', 'full_page_writes', 'synchronous_commit') ORDER BY name"));
  std::vector<std::string> off;
  for (int i = 0; i < rows.count(); ++i) off.push_back(rows.text(i, 0));
  return off;
}

}  // namespace belay::postgres
