#pragma once
// check/broken_stores.h - for each rule, stores that break it and no other.

#include <vector>

#include "belay/check.h"
#include "check/tampered_store.h"

namespace belay::check {

struct BrokenStore {
  const char* rule;
  const char* name;  // what is wrong, in the words of a test's name
  // Changes what Scenarios::play_all() has left.
  void (*tamper)(StoredRows& rows, CheckScope& scope);
};

// Of the agents' ten properties.
std::vector<BrokenStore> broken_properties();
// Of the engine's invariants.
std::vector<BrokenStore> broken_invariants();

}  // namespace belay::check
