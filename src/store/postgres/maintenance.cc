#include "store/postgres/maintenance.h"

#include <algorithm>

#include "store/postgres/schema.h"
#include "store/postgres/transaction_retry.h"

namespace belay::postgres {
namespace {

constexpr std::int64_t counted_rows_max = 1'000'000;
constexpr int grants_maintenance = 170'000;  // first version with the MAINTAIN privilege
// Long, because VACUUM of a large table sends nothing until its end.
constexpr std::chrono::hours maintenance_patience{24};

Result<std::unique_ptr<Connection>> open_patient(const Address& address) {
  BELAY_TRY(auto connection, Connection::open(address));
  connection->set_patience(maintenance_patience);
  return connection;
}

// Returns the tables that our user may not vacuum, their owner, and the user. VACUUM itself would
// only issue a warning and skip them.
Result<Rows> tables_of_others(Connection& connection, const Address& address) {
  std::string sql =
      "SELECT c.relname::text, pg_get_userbyid(c.relowner)::text, current_user::text"
      " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
      " WHERE n.nspname = $1 AND c.relname = ANY($2) AND c.relkind = 'r'"
      " AND NOT pg_has_role(c.relowner, 'USAGE')"
      " AND NOT (SELECT pg_has_role(d.datdba, 'USAGE') FROM pg_database d"
      "   WHERE d.datname = current_database())";
  if (connection.server_version() >= grants_maintenance) {
    sql += " AND NOT has_table_privilege(c.oid, 'MAINTAIN')";
  }
  Column names(Type::text);
  for (std::string_view name : table_names()) names.add(name);
  return connection.query(sql + " ORDER BY 1",
                          Parameters().add(std::string_view(address.schema)).add(names));
}

Result<StoreStatistics> statistics_over(Connection& connection, const Address& address) {
  Column names(Type::text);
  for (std::string_view name : table_names()) names.add(name);
  Parameters parameters;
  parameters.add(std::string_view(address.schema)).add(names);
  // Last column: bytes of dead rows, estimated by their share of all rows.
  BELAY_TRY(
      Rows rows,
      connection.query("SELECT c.relname::text, pg_total_relation_size(c.oid), c.reltuples::bigint,"
                       " coalesce(pg_table_size(c.oid) * s.n_dead_tup"
                       "   / nullif(s.n_live_tup + s.n_dead_tup, 0), 0)::bigint"
                       " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
                       " LEFT JOIN pg_stat_all_tables s ON s.relid = c.oid"
                       " WHERE n.nspname = $1 AND c.relname = ANY($2) AND c.relkind = 'r'"
                       " ORDER BY 2 DESC, 1",
                       parameters));
  StoreStatistics found;
  for (int row = 0; row < rows.count(); ++row) {
    TableStatistics table{rows.text(row, 0), rows.natural(row, 2), rows.natural(row, 1)};
    if (rows.number(row, 2) <= counted_rows_max) {
      // Not user input: the name is one of table_names().
      BELAY_TRY(Rows counted, connection.query("SELECT count(*) FROM belay." + table.name));
      table.rows = counted.natural(0, 0);
    }
    found.bytes += table.bytes;
    found.free_bytes += rows.natural(row, 3);
    found.tables.push_back(std::move(table));
  }
  return found;
}

}  // namespace

Result<StoreStatistics> statistics_of(const Address& address) {
  BELAY_TRY(auto connection, open_patient(address));
  return with_retry(*connection, [&] { return statistics_over(*connection, address); });
}

Result<Done> compact(const Address& address) {
  BELAY_TRY(auto connection, open_patient(address));
  BELAY_TRY(Rows forbidden,
            with_retry(*connection, [&] { return tables_of_others(*connection, address); }));
  std::vector<std::string> left;
  for (int row = 0; row < forbidden.count(); ++row) left.push_back(forbidden.text(row, 0));
  for (std::string_view name : table_names()) {
    if (std::find(left.begin(), left.end(), name) != left.end()) continue;
    std::string vacuum = "VACUUM (ANALYZE) belay." + std::string(name);
    BELAY_CHECK(with_retry(*connection, [&] { return connection->execute(vacuum); }));
  }
  if (left.empty()) return Done{};
  return error(ErrorCode::unavailable,
               "The store, " + address.shown + ", was not compacted: of its " +
                   std::to_string(table_names().size()) + " tables the user \"" +
                   forbidden.text(0, 2) + "\" cannot vacuum " + std::to_string(left.size()) +
                   ", including " + left.front() + ". Use their owner, \"" + forbidden.text(0, 1) +
                   "\", as the user in the store's URL.");
}

}  // namespace belay::postgres
