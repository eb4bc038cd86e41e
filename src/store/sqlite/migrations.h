#pragma once
// store/sqlite/migrations.h - the numbered scripts of migrations/, compiled in. Their number is
// their version; one that has been released is never edited, its checksum is in every store.

#include <span>
#include <string_view>

namespace belay::sqlite {

struct Migration {
  std::string_view name;  // "0001_first"
  std::string_view sql;
};

std::span<const Migration> migrations();

}  // namespace belay::sqlite
