#pragma once
// tests/scenario/script_commands.h - the words that a scenario script may use: the whole language.
//
// To add a word: a row here, what it does in player.cc or expectations.cc, and a line in
// docs/scenario-scripts.md.

#include <string_view>
#include <vector>

namespace belay::scenario {

struct WordRule {
  std::string_view word;  // "start", "expect done"
  std::size_t least = 0;  // plain arguments
  std::size_t most = 0;
  std::string_view names;  // of the named arguments, by spaces; those with '!' must be there
  std::string_view usage;
};

const std::vector<WordRule>& all_words();

}  // namespace belay::scenario
