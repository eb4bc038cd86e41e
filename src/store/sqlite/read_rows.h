#pragma once
// store/sqlite/read_rows.h - reads the rows of a query into a vector.

#include <concepts>
#include <type_traits>
#include <vector>

#include "store/row_fields.h"
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

// Reads a column into a member of a row.
template <typename M>
Result<Done> read_column(const Statement& row, int column, M& into) {
  if constexpr (std::is_enum_v<M>) {
    // Null is the default of these: most values are replaced.
    if (std::is_same_v<M, WriteOp> && row.is_null(column)) return Done{};
    return read_enum(row, column, into);
  } else if constexpr (std::derived_from<M, Uuid>) {
    into = M(row.uuid(column));
  } else if constexpr (std::is_same_v<M, Digest>) {
    into = row.digest(column);
  } else if constexpr (std::is_same_v<M, Instant>) {
    into = row.instant(column);
  } else if constexpr (std::is_same_v<M, bool>) {
    into = row.number(column) != 0;
  } else if constexpr (std::unsigned_integral<M>) {
    into = row.natural(column);
  } else if constexpr (std::integral<M>) {
    into = row.number(column);
  } else {
    into = M(row.text(column));
  }
  return Done{};
}

// Reads the columns of store::select_list().
template <typename Row>
Result<Done> read_fields(const Statement& row, Row& into) {
  return store::read_fields(
      into, [&](int column, auto& member) { return read_column(row, column, member); });
}

}  // namespace belay::sqlite
