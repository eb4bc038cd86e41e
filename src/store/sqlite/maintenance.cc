#include "store/sqlite/maintenance.h"

#include <sys/stat.h>

#include "store/sqlite/connection.h"
#include "store/sqlite/read_rows.h"

namespace belay::sqlite {
namespace {

std::uint64_t size_of(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

Result<Done> count(Connection& connection, StoreStatistics& found) {
  // Bytes of each table, including its indexes.
  BELAY_TRY(Statement tables,
            connection.prepare("SELECT m.tbl_name, sum(d.pgsize)"
                               " FROM dbstat d JOIN sqlite_schema m ON m.name = d.name"
                               " WHERE d.aggregate = TRUE GROUP BY m.tbl_name"
                               " ORDER BY 2 DESC, 1"));
  auto read_row = [](const Statement& row, TableStatistics& table) -> Result<Done> {
    table.name = row.text(0);
    table.bytes = row.natural(1);
    return Done{};
  };
  BELAY_TRY(found.tables, all_rows<TableStatistics>(connection, std::move(tables), read_row));
  for (TableStatistics& table : found.tables) {
    // Not user input: the names are those of the schema.
    BELAY_TRY(std::int64_t rows, connection.number("SELECT count(*) FROM \"" + table.name + "\""));
    table.rows = static_cast<std::uint64_t>(rows);
  }
  BELAY_TRY(std::int64_t free_pages, connection.number("PRAGMA freelist_count"));
  BELAY_TRY(std::int64_t page_size, connection.number("PRAGMA page_size"));
  found.free_bytes = static_cast<std::uint64_t>(free_pages * page_size);
  return Done{};
}

}  // namespace

Result<StoreStatistics> statistics_of(const std::string& path) {
  BELAY_TRY(auto connection, Connection::open(path, Connection::Mode::read_write));
  BELAY_CHECK(connection->execute("PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; BEGIN"));
  StoreStatistics found;
  auto counted = count(*connection, found);
  (void)connection->execute("ROLLBACK");  // nothing was written
  if (!counted.ok()) return std::move(counted).error();
  found.bytes = size_of(path) + size_of(path + "-wal");
  return found;
}

// VACUUM does not change row numbers that other tables refer to: they are INTEGER PRIMARY KEY
// columns.
Result<Done> compact_file(const std::string& path) {
  BELAY_TRY(auto connection, Connection::open(path, Connection::Mode::read_write));
  BELAY_CHECK(connection->execute("PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF"));
  BELAY_CHECK(connection->execute("VACUUM"));
  // Copies the log into the file and truncates it, as far as no other process reads from it.
  return connection->execute("PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace belay::sqlite
