#pragma once
// store/sqlite/list_conditions.h - builds conditions of a WHERE clause from the lists of a filter.

#include <string>
#include <string_view>
#include <vector>

#include "belay/ids.h"
#include "belay/value.h"
#include "store/sqlite/connection.h"

namespace belay::sqlite {

// Each list is one parameter: a JSON array of texts. Ids are compared by their hexadecimal digits.
// An empty list adds no condition.
class ListConditions {
 public:
  template <typename List, typename TextOf>
  void add(std::string_view condition, const List& list, TextOf text_of) {
    if (list.empty()) return;
    sql_ += " AND ";
    sql_ += condition;
    sql_ += " (SELECT value FROM json_each(?))";
    std::string& array = arrays_.emplace_back("[");
    for (const auto& each : list) {
      if (array.size() > 1) array += ',';
      write_json_string(text_of(each), array);
    }
    array += ']';
  }
  const std::string& sql() const { return sql_; }
  void bind(Statement& statement) const {
    for (const std::string& array : arrays_) statement.bind(array);
  }

 private:
  std::string sql_;
  std::vector<std::string> arrays_;
};

inline std::string hex_of(const Uuid& id) {
  std::string text = id.text();
  std::erase(text, '-');
  return text;
}

inline std::string text_itself(const std::string& text) { return text; }

}  // namespace belay::sqlite
