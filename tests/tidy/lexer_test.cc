#include "tests/tidy/lexer.h"

#include <gtest/gtest.h>

namespace belay::tidy {
namespace {

std::string joined(std::string_view text) {
  std::string all;
  for (const Token& token : tokens_of(text)) all += (all.empty() ? "" : " ") + token.text;
  return all;
}

TEST(TidyLexer, LeavesOutCommentsAndTheTextOfStrings) {
  EXPECT_EQ(joined("a(\"b // c\"); // d\n/* e\n f */ g('\\'');"), "a ( \"\" ) ; g ( '' ) ;");
  EXPECT_EQ(joined("x = R\"sql(select \"a)\" ; )sql\" ;"), "x = \"\" ;");
}

TEST(TidyLexer, KeepsNumbersAndSeparatorsWhole) {
  EXPECT_EQ(joined("a = 10'000 + 1e-5 + 0xE+1;"), "a = 10'000 + 1e-5 + 0xE + 1 ;");
}

TEST(TidyLexer, JoinsOnlyScopeAndArrow) {
  EXPECT_EQ(joined("std::a->b>>c"), "std :: a -> b > > c");
}

TEST(TidyLexer, ReadsIncludes) {
  EXPECT_EQ(joined("  #  include <a/b.h>  // why\n#include \"c.h\"\n"), "<a/b.h> \"c.h\"");
}

TEST(TidyLexer, CountsLinesThroughEverythingThatSpansThem) {
  auto tokens = tokens_of("/* 1\n 2 */ R\"(3\n4)\" \"a\\\nb\" c");
  ASSERT_FALSE(tokens.empty());
  EXPECT_EQ(tokens.back().text, "c");
  EXPECT_EQ(tokens.back().line, 4);
}

TEST(TidyLexer, KeepsCommentsAndTheTextOfStringsIfAsked) {
  std::string all;
  for (const Token& token : tokens_and_prose_of("a /* b */ (\"c\\n\\\"d\", R\"x(e\\n)x\"); // f")) {
    all += token.text + "|";
  }
  EXPECT_EQ(all, "a|/* b */|(|c \"d|,|e\\n|)|;|// f|");
}

TEST(TidyLexer, EndsOnTextThatIsNoCode) {
  for (std::string_view text : {"\"", "'", "R\"(", "R\"x", "/*", "#include", "#include <", "\\"}) {
    tokens_of(text);
  }
}

}  // namespace
}  // namespace belay::tidy
