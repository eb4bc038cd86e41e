#pragma once
// tests/scenario/player.h - executes a script on one kind of store, line by line.

#include <functional>
#include <optional>

#include "tests/scenario/script.h"
#include "tests/scenario/script_environment.h"

namespace belay::scenario {

// The line of a script that failed.
struct Fault {
  int line = 0;
  std::string text;  // of the line
  std::string expected;
  std::string found;
  std::vector<std::string> by_hand;  // the commands up to this line, for a shell
};

// Called with each line that has passed.
using Passed = std::function<void(const Step&)>;

// Returns nothing if every line passed and the check of the store finds no violation at the end.
std::optional<Fault> play(const Script& script, const StoreKind& kind, const Passed& passed = {});

// Returns the kinds of store that the script applies to; `invalid` if it names an unknown one.
Result<std::vector<StoreKind>> stores_for(const Script& script);

// Returns all information that is needed to examine the failure.
std::string report(const Script& script, const StoreKind& kind, const Fault& fault);

}  // namespace belay::scenario
