#pragma once
// tests/support/broken_stores.h - for each rule, stores that violate it and no other.

#include <vector>

#include "belay/check.h"
#include "tests/support/tampered_store.h"

namespace belay::check {

struct BrokenStore {
  const char* rule;
  const char* name;  // the fault, as the name of a test
  // Changes the rows that Scenarios::play_all() has written.
  void (*tamper)(StoredRows& rows, CheckScope& scope);
  const char* also = nullptr;  // a second rule that finds it
};

// For the agents' ten properties.
std::vector<BrokenStore> broken_properties();
// For the engine's invariants.
std::vector<BrokenStore> broken_invariants();

}  // namespace belay::check
