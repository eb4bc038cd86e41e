#include "store/postgres/maintenance.h"

#include "store/postgres/schema.h"

namespace belay::postgres {
namespace {

constexpr std::int64_t counted_rows_max = 1'000'000;
// Large tables take their time.
constexpr std::chrono::hours maintenance_patience{24};

Result<std::unique_ptr<Connection>> open_patient(const Address& address) {
  BELAY_TRY(auto connection, Connection::open(address));
  connection->set_patience(maintenance_patience);
  return connection;
}

}  // namespace

Result<StoreStatistics> statistics_of(const Address& address) {
  BELAY_TRY(auto connection, open_patient(address));
  Column names(Type::text);
  for (std::string_view name : table_names()) names.add(name);
  Parameters parameters;
  parameters.add(std::string_view(address.schema)).add(names);
  // What dead rows take up, in proportion to the living.
  BELAY_TRY(Rows rows,
            connection->query(
                "SELECT c.relname::text, pg_total_relation_size(c.oid), c.reltuples::bigint,"
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
      // The names are the schema's own.
      BELAY_TRY(Rows counted, connection->query("SELECT count(*) FROM belay." + table.name));
      table.rows = counted.natural(0, 0);
    }
    found.bytes += table.bytes;
    found.free_bytes += rows.natural(row, 3);
    found.tables.push_back(std::move(table));
  }
  return found;
}

Result<Done> compact(const Address& address) {
  BELAY_TRY(auto connection, open_patient(address));
  for (std::string_view name : table_names()) {
    BELAY_CHECK(connection->execute("VACUUM (ANALYZE) belay." + std::string(name)));
  }
  return Done{};
}

}  // namespace belay::postgres
