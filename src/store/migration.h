#pragma once
// store/migration.h - a numbered script that creates or changes a store's schema.
//
// Compiled in. Its number is the schema's version. A released script is never edited: every store
// contains its checksum.

#include <string_view>

namespace belay::store {

struct Migration {
  std::string_view name;  // "0001_first"
  std::string_view sql;
};

}  // namespace belay::store
