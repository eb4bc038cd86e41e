#include <gtest/gtest.h>

#include "tests/tidy/prose_rules.h"

namespace belay::tidy {
namespace {

Tree tree_with(std::string counts, std::vector<File> files) {
  Tree tree = {{std::string(kPhrasesPath), "(says|said) => states\nat once => immediately\n"},
               {std::string(kCountsPath), std::move(counts)}};
  tree.insert(tree.end(), files.begin(), files.end());
  return tree;
}

TEST(TidyProseCounts, ANewFileWithAPhraseFailsWithFileLineAndReplacement) {
  Findings findings = check_prose(tree_with("", {{"docs/a.md", "One.\n\nIt says no.\n"}}));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].path, "docs/a.md");
  EXPECT_EQ(findings[0].line, 3);
  EXPECT_EQ(findings[0].message, "not \"(says|said)\": states (this file: 1 of these, recorded 0)");
}

TEST(TidyProseCounts, ACountOfAFileThatRoseFails) {
  std::string counts = "docs/a.md: 1\n5 (says|said)\n";
  EXPECT_EQ(check_prose(tree_with(counts, {{"docs/a.md", "It says.\n"}})).size(), 0u);
  EXPECT_EQ(check_prose(tree_with(counts, {{"docs/a.md", "It says. It said.\n"}})).size(), 2u);
}

TEST(TidyProseCounts, APhraseThatReplacesAnotherFails) {
  std::string counts = "docs/a.md: 1\n1 (says|said)\n";
  Findings findings = check_prose(tree_with(counts, {{"docs/a.md", "It ends at once.\n"}}));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].message,
            "not \"at once\": immediately (this phrase in all files: 1 of these, recorded 0)");
}

TEST(TidyProseCounts, AFrequentPhraseIsListedOnlyInTheFilesThatRose) {
  std::vector<File> files = {{"docs/new.md", "It says.\n"}};
  std::string counts;
  for (char name = 'a'; name <= 'z'; ++name) {
    files.push_back({std::string("docs/") + name + ".md", "It says.\n"});
    counts += files.back().path + ": 1\n";
  }
  EXPECT_EQ(check_prose(tree_with(counts + "26 (says|said)\n", files)).size(), 1u);
  files[0].text = "It waits.\n";
  EXPECT_EQ(check_prose(tree_with(counts + "25 (says|said)\n", files)).size(), 10u);
}

TEST(TidyProseCounts, ALowerCountPassesAndIsReported) {
  std::string counts = "docs/a.md: 2\ndocs/gone.md: 1\n3 (says|said)\n";
  Tree tree = tree_with(counts, {{"docs/a.md", "It says.\n"}});
  EXPECT_TRUE(check_prose(tree).empty());
  EXPECT_EQ(lower_counts(count_hits(find_hits(tree)), recorded_counts(tree)),
            "docs/a.md: 1, recorded 2\ndocs/gone.md: 0, recorded 1\n(says|said): 1, recorded 3\n");
}

TEST(TidyProseCounts, ATreeWithoutPhrasesHasNoFindings) {
  EXPECT_TRUE(check_prose({{"docs/a.md", "It says.\n"}}).empty());
}

TEST(TidyProseCounts, TextOfCountsIsSortedAndReadsBack) {
  ProseCounts counts;
  counts.files = {{"docs/b.md", 2}, {"docs/a.md", 12}, {"scripts/x", 1}};
  counts.phrases = {{"at once", 4}, {"(is|are) to be + participle", 11}};
  std::string text = to_text(counts);
  EXPECT_TRUE(
      text.ends_with("docs/a.md: 12\ndocs/b.md: 2\nscripts/x: 1\n"
                     "11 (is|are) to be + participle\n4 at once\n"))
      << text;
  ProseCounts again = read_counts(text);
  EXPECT_EQ(again.files, counts.files);
  EXPECT_EQ(again.phrases, counts.phrases);
}

}  // namespace
}  // namespace belay::tidy
