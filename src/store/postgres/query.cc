#include "store/postgres/query.h"

#include "belay/value.h"

namespace belay::postgres {

void Query::append(std::string_view sql) {
  for (char c : sql) {
    if (c == '?') {
      sql_ += "$" + std::to_string(++count_);
    } else {
      sql_ += c;
    }
  }
}

void Query::put(const std::string& text) {
  bool is_storable = text.find('\0') == std::string::npos && !first_invalid_utf8(text);
  finds_nothing_ = finds_nothing_ || !is_storable;
  parameters_.add(std::string_view(text));
}

}  // namespace belay::postgres
