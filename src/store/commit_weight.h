#pragma once
// store/commit_weight.h - how much a commit will make a store write: what bounds a transaction.

#include <cstddef>

#include "belay/store.h"

namespace belay::store {

// Bytes, about.
std::size_t weight_of(const Commit& commit);

// Returns the largest total of text and envelope bytes that the commit has for one table.
std::size_t largest_table_of(const Commit& commit);

}  // namespace belay::store
