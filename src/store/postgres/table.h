#pragma once
// store/postgres/table.h - the rows of one statement, stored by column.
//
// Threading: one thread at a time.

#include <optional>
#include <string_view>
#include <vector>

#include "store/postgres/connection.h"

namespace belay::postgres {

// Converts the null id and the default instant to null.
inline std::optional<Uuid> or_null(const Uuid& id) {
  if (id.is_null()) return std::nullopt;
  return id;
}
inline std::optional<Instant> or_null(Instant instant) {
  if (instant == Instant{}) return std::nullopt;
  return instant;
}

class Table {
 public:
  // `statement` takes one array per column, from $1 on. Its text must outlive the table.
  Table(std::string_view statement, const std::vector<Type>& types) : statement_(statement) {
    columns_.reserve(types.size());
    for (Type type : types) columns_.emplace_back(type);
  }

  // Adds a row. REQUIRES: a value for each column, of its type.
  template <typename... Values>
  void add(const Values&... values) {
    std::size_t column = 0;
    (add_value(columns_[column++], values), ...);
    ++count_;
  }

  std::size_t count() const { return count_; }
  // Queues the statement and returns true, unless there are no rows.
  bool send(Connection& connection) const {
    if (count_ == 0) return false;
    connection.send(statement_, parameters());
    return true;
  }
  // The same, with the number of rows as an additional last parameter.
  bool send_with_count(Connection& connection) const {
    if (count_ == 0) return false;
    Parameters all = parameters();
    all.add(static_cast<std::int64_t>(count_));
    connection.send(statement_, all);
    return true;
  }

 private:
  Parameters parameters() const {
    Parameters all;
    all.reserve(columns_.size() + 1);
    for (const Column& column : columns_) all.refer(column);
    return all;
  }

  template <typename T>
  static void add_value(Column& column, const T& value) {
    if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      column.add(std::string_view(value));
    } else {
      column.add(value);
    }
  }
  template <typename T>
  static void add_value(Column& column, const std::optional<T>& value) {
    value ? add_value(column, *value) : column.add_null();
  }

  std::string_view statement_;
  std::vector<Column> columns_;
  std::size_t count_ = 0;
};

}  // namespace belay::postgres
