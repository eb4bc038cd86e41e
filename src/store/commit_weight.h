#pragma once
// store/commit_weight.h - how much a commit will make a store write: what bounds a transaction.

#include <cstddef>

#include "belay/store.h"

namespace belay::store {

// Bytes, about.
std::size_t weight_of(const Commit& commit);

// The bytes of the texts and envelopes that it has for one table, of that which gets the most.
std::size_t largest_table_of(const Commit& commit);

}  // namespace belay::store
