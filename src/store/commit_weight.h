#pragma once
// store/commit_weight.h - estimates the bytes that a commit writes, for the limits of transactions.

#include <cstddef>

#include "belay/store.h"

namespace belay::store {

// Returns approximate bytes.
std::size_t weight_of(const Commit& commit);

// Returns the largest total of text and envelope bytes that the commit has for one table.
std::size_t largest_table_of(const Commit& commit);

}  // namespace belay::store
