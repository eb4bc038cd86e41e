#pragma once
// store/sqlite/migrations.h - the numbered scripts of migrations/, compiled in.

#include <span>

#include "store/migration.h"

namespace belay::sqlite {

std::span<const store::Migration> migrations();

}  // namespace belay::sqlite
