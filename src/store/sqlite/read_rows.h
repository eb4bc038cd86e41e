#pragma once
// store/sqlite/read_rows.h - reads the rows of a query into a vector.

#include <vector>

#include "store/sqlite/connection.h"

namespace belay::sqlite {

// Steps through a statement and reads each row with `read_row`; returns the first Error.
template <typename Row, typename ReadRow>
Result<std::vector<Row>> all_rows(Connection& connection, Statement statement, ReadRow read_row) {
  std::vector<Row> rows;
  Statement::Step step = statement.step();
  for (; step == Statement::Step::row; step = statement.step()) {
    Row row;
    BELAY_CHECK(read_row(statement, row));
    rows.push_back(std::move(row));
  }
  if (step == Statement::Step::failed) return connection.error();
  return rows;
}

template <typename E>
Result<Done> read_enum(const Statement& row, int column, E& value) {
  std::string name = row.text(column);
  auto named = store::enum_named<E>(name);
  if (!named) {
    return error(ErrorCode::corrupt, "The store contains the unknown value \"" +
                                         name.substr(0, 100) + "\". Restore it from a backup.");
  }
  value = *named;
  return Done{};
}

}  // namespace belay::sqlite
