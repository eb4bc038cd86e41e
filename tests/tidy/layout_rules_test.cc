#include <gtest/gtest.h>

#include "tests/tidy/checks.h"

namespace belay::tidy {
namespace {

std::string lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "x\n";
  return text;
}

TEST(TidyLength, LongFilesSayWhy) {
  EXPECT_TRUE(check_length({"src/base/a.cc", lines(500)}).empty());
  EXPECT_FALSE(check_length({"src/base/a.cc", lines(501)}).empty());
  EXPECT_FALSE(check_length({"scripts/a", lines(501)}).empty());
  std::string reason = "// Long on purpose: one table.\n";
  EXPECT_TRUE(check_length({"src/base/a.cc", reason + lines(501)}).empty());
  EXPECT_FALSE(check_length({"src/base/a.cc", "// Long on purpose:\n" + lines(501)}).empty());
  EXPECT_FALSE(check_length({"src/base/a.cc", lines(30) + reason + lines(501)}).empty());
}

TEST(TidyLength, PublicHeadersAreShorter) {
  EXPECT_TRUE(check_length({"include/belay/a.h", lines(300)}).empty());
  EXPECT_FALSE(check_length({"include/belay/a.h", lines(301)}).empty());
  EXPECT_TRUE(check_length({"src/base/a.h", lines(301)}).empty());
}

TEST(TidyLength, DataAndDocumentsAreAsLongAsTheyAre) {
  EXPECT_TRUE(check_length({"docs/a.md", lines(2000)}).empty());
  EXPECT_TRUE(check_length({"agents/rules/lexicon.tsv", lines(2000)}).empty());
}

TEST(TidyPublicHeaders, AreFew) {
  Tree tree;
  for (int i = 0; i < 20; ++i) tree.push_back({"include/belay/h" + std::to_string(i) + ".h", ""});
  EXPECT_TRUE(check_public_headers(tree).empty());
  tree.push_back({"include/belay/one_more.h", ""});
  EXPECT_EQ(check_public_headers(tree).size(), 1u);
}

TEST(TidyTargets, EverySourceFileIsBuilt) {
  Tree tree = {{"src/base/CMakeLists.txt", "belay_library(b SOURCES a.cc  # c.cc\n x/d.cc)"},
               {"src/base/a.cc", ""},
               {"src/base/x/d.cc", ""}};
  EXPECT_TRUE(check_targets(tree).empty());
  for (const char* lost : {"src/base/c.cc", "src/base/aa.cc", "src/base/d.cc", "src/graph/a.cc"}) {
    Tree more = tree;
    more.push_back({lost, ""});
    EXPECT_EQ(check_targets(more).size(), 1u) << lost;
  }
}

TEST(TidyErrorCodes, EachIsExplained) {
  File header{"include/belay/result.h",
              "enum class ErrorCode {\n  not_found,  // no\n  conflict,\n};"};
  EXPECT_TRUE(check_error_codes({header}).empty());
  EXPECT_TRUE(
      check_error_codes({header, {"docs/errors.md", "| `not_found` | | `conflict` |"}}).empty());
  Findings findings = check_error_codes({header, {"docs/errors.md", "`not_found` conflict"}});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].line, 3);
}

}  // namespace
}  // namespace belay::tidy
