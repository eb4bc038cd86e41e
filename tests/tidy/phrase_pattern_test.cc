#include "tests/tidy/phrase_pattern.h"

#include <gtest/gtest.h>

namespace belay::tidy {
namespace {

// Every sequence of a pattern, with "; " between them.
std::string expanded(std::string_view pattern) {
  auto sequences = expand_pattern(pattern);
  if (!sequences) return "malformed";
  std::string all;
  for (const auto& words : *sequences) {
    if (!all.empty()) all += "; ";
    for (const std::string& word : words) all += (&word == &words[0] ? "" : " ") + word;
  }
  return all;
}

TEST(PhrasePattern, ListsEverySequenceOfAlternativesAndOptionalParts) {
  EXPECT_EQ(expanded("at once"), "at once");
  EXPECT_EQ(expanded("(a|b) c|d"), "a c; b c; d");
  EXPECT_EQ(expanded("give( it| them)? back"), "give back; give it back; give them back");
  EXPECT_EQ(expanded("in (the )?words( of)?"),
            "in the words; in the words of; in words; in words of");
  EXPECT_EQ(expanded("where (it (is|was)|none)"), "where it is; where it was; where none");
  EXPECT_EQ(expanded("what \\w+( \\w+)? to"), "what \\w+ \\w+ to; what \\w+ to");
  EXPECT_EQ(expanded("can't be one's|time-out"), "can't be one's; time-out");
}

TEST(PhrasePattern, RefusesWhatItCannotExpand) {
  for (std::string_view bad :
       {"", "a|", "|a", "(a", "a)", "()", "a [b]", "a.", "say(s)?", "(un)known", "( a)?", "a*"}) {
    EXPECT_EQ(expanded(bad), "malformed") << bad;
  }
}

}  // namespace
}  // namespace belay::tidy
