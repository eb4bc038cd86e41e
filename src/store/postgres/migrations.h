#pragma once
// store/postgres/migrations.h - the numbered scripts of migrations/, compiled in.

#include <span>

#include "store/migration.h"

namespace belay::postgres {

std::span<const store::Migration> migrations();

}  // namespace belay::postgres
