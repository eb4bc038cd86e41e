#pragma once
// store/postgres/query.h - builds a statement from conditions with their values, and reads its rows
// into a vector.
//
// Threading: one thread at a time.

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "store/postgres/connection.h"
#include "store/row_fields.h"

namespace belay::postgres {

// A value of type bytea, such as an envelope.
struct Bytes {
  std::string_view bytes;
};

class Query {
 public:
  explicit Query(std::string_view sql) : sql_(sql) {}

  // Appends `sql`, in which each "?" stands for the next of the values.
  template <typename... Values>
  Query& add(std::string_view sql, const Values&... values) {
    (put(values), ...);
    append(sql);
    return *this;
  }

  // Assigns the next numbers to the values; appended text must refer to them by number ($1).
  template <typename... Values>
  Query& bind(const Values&... values) {
    (put(values), ...);
    count_ += sizeof...(values);
    return *this;
  }

  // For a statement whose best plan does not depend on its values, such as one by a whole key. The
  // plan of any other is made for its values.
  Query& keep_plan() {
    plan_ = Plan::kept;
    return *this;
  }

  const std::string& sql() const { return sql_; }
  Plan plan() const { return plan_; }
  const Parameters& parameters() const { return parameters_; }
  // True if a value is a text that PostgreSQL cannot store (contains U+0000 or is not UTF-8): no
  // row can match, and the server would reject the statement.
  bool finds_nothing() const { return finds_nothing_; }

 private:
  void append(std::string_view sql);
  void put(const std::string& text);
  void put(const Bytes& value) { parameters_.add_bytes(value.bytes); }
  template <typename Tag>
  void put(const NameId<Tag>& name) {
    put(name.text);
  }
  template <typename T>
  void put(const T& value) {
    parameters_.add(value);
  }

  std::string sql_;
  Parameters parameters_;
  std::size_t count_ = 0;  // of the values with a number so far
  bool finds_nothing_ = false;
  Plan plan_ = Plan::fresh;
};

// A condition over a list, as one array parameter. An empty list adds no condition.
template <typename List, typename TextOf>
void add_texts(Query& query, std::string_view condition, const List& list, TextOf text_of) {
  if (list.empty()) return;
  Column texts(Type::text);
  for (const auto& each : list) texts.add(text_of(each));
  query.add(condition, texts);
}

template <typename List>
void add_ids(Query& query, std::string_view condition, const List& list) {
  if (list.empty()) return;
  Column ids(Type::uuid);
  for (const Uuid& each : list) ids.add(each);
  query.add(condition, ids);
}

inline std::string_view text_itself(const std::string& text) { return text; }

// Reads a column into a member of a row.
template <typename M>
Result<Done> read_column(const Rows& rows, int row, int column, M& into) {
  if constexpr (std::is_enum_v<M>) {
    // Null is the default of these: most values are replaced.
    if (std::is_same_v<M, WriteOp> && rows.is_null(row, column)) return Done{};
    return read_enum(rows, row, column, into);
  } else if constexpr (std::derived_from<M, Uuid>) {
    into = M(rows.uuid(row, column));
  } else if constexpr (std::is_same_v<M, Digest>) {
    into = rows.digest(row, column);
  } else if constexpr (std::is_same_v<M, Instant>) {
    into = rows.instant(row, column);
  } else if constexpr (std::is_same_v<M, bool>) {
    into = rows.boolean(row, column);
  } else if constexpr (std::unsigned_integral<M>) {
    into = rows.natural(row, column);
  } else if constexpr (std::integral<M>) {
    into = rows.number(row, column);
  } else {
    into = M(rows.text(row, column));
  }
  return Done{};
}

// Reads the columns of store::select_list().
template <typename Row>
Result<Done> read_fields(const Rows& rows, int row, Row& into) {
  return store::read_fields(
      into, [&](int column, auto& member) { return read_column(rows, row, column, member); });
}

// Reads each row with read_row(rows, row, into); returns the first Error.
template <typename Row, typename ReadRow>
Result<std::vector<Row>> read_all(const Rows& rows, ReadRow read_row) {
  std::vector<Row> found(static_cast<std::size_t>(rows.count()));
  for (int i = 0; i < rows.count(); ++i) {
    BELAY_CHECK(read_row(rows, i, found[static_cast<std::size_t>(i)]));
  }
  return found;
}

}  // namespace belay::postgres
