#pragma once
// tests/scenario/script_commands.h - the words of scenario scripts: the whole language
//
// To add a word, add a row here, its implementation in player.cc or expectations.cc, and a line in
// docs/scenario-scripts.md.

#include <string_view>
#include <vector>

namespace belay::scenario {

struct WordRule {
  std::string_view word;  // "start", "expect done"
  std::size_t least = 0;  // plain arguments
  std::size_t most = 0;
  // Of the named arguments, separated by spaces; those with '!' are required.
  std::string_view names;
  std::string_view usage;
};

const std::vector<WordRule>& all_words();

}  // namespace belay::scenario
