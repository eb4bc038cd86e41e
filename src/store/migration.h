#pragma once
// store/migration.h - a numbered script that makes or changes a store's schema, compiled in. Its
// number is its version; one that has been released is never edited, its checksum is in every
// store.

#include <string_view>

namespace belay::store {

struct Migration {
  std::string_view name;  // "0001_first"
  std::string_view sql;
};

}  // namespace belay::store
