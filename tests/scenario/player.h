#pragma once
// tests/scenario/player.h - plays a script on one kind of store, line by line.

#include <functional>
#include <optional>

#include "tests/scenario/script.h"
#include "tests/scenario/script_environment.h"

namespace belay::scenario {

// What was not as the script says.
struct Fault {
  int line = 0;
  std::string text;  // of the line
  std::string expected;
  std::string found;
  std::vector<std::string> by_hand;  // the commands up to there, for a shell
};

// Told of each line that has passed.
using Passed = std::function<void(const Step&)>;

// Nothing when all was as the script says, and the store's own check finds nothing at the end.
std::optional<Fault> play(const Script& script, const StoreKind& kind, const Passed& passed = {});

// The kinds of store that the script is for; `invalid` when it names one that there is not.
Result<std::vector<StoreKind>> stores_for(const Script& script);

// Everything that somebody needs who is to look into it.
std::string report(const Script& script, const StoreKind& kind, const Fault& fault);

}  // namespace belay::scenario
