#include "agents/rules/figures.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "agents/rules/audit_rules.h"

namespace belay::rules {
namespace {

std::string source(const std::string& path) { return std::string(BELAY_SOURCE_DIR) + "/" + path; }

TEST(Figures, TheDocumentCarriesWhatTheCodeGivesNow) {
  const FigurePaths paths{source("tests/data/labelled/risk_notes_dev.jsonl"),
                          source("examples/diaries")};
  const auto figures = figures_markdown(paths);
  ASSERT_TRUE(figures.ok()) << figures.error().message;
  std::ifstream file(source("docs/builtin-provider.md"));
  const std::string document{std::istreambuf_iterator<char>(file), {}};
  const std::string begin = "<!-- figures: written by rules_score -->\n";
  const std::string end = "<!-- end of figures -->\n";
  ASSERT_NE(document.find(begin), std::string::npos);
  EXPECT_NE(document.find(begin + *figures + end), std::string::npos)
      << "Put this between the marks in docs/builtin-provider.md:\n"
      << *figures;
}

// The words of 971 days of diaries and of the labelled notes, as reviewed by a person: see
// tests/data/lexicon/README.md.
TEST(Figures, TheWordsThatMeetTheLexiconInAnotherFormAreThoseThatWereReviewed) {
  const FigurePaths paths{source("tests/data/labelled/risk_notes_dev.jsonl"),
                          source("examples/diaries")};
  const auto forms = lexicon_forms(paths);
  ASSERT_TRUE(forms.ok()) << forms.error().message;
  std::ifstream file(source("tests/data/lexicon/forms.tsv"));
  const std::string reviewed{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(*forms, reviewed)
      << "rules_score --forms > tests/data/lexicon/forms.tsv, and read what has changed";
}

// Bounds, so that a change for the worse is seen: the figures themselves are in the document.
TEST(Figures, NineOfTenCrisesAreFoundWithFewFalseAlarms) {
  const auto counts = alarm_counts(source("tests/data/labelled/risk_notes_dev.jsonl"));
  ASSERT_TRUE(counts.ok()) << counts.error().message;
  EXPECT_EQ(counts->crisis, 21);
  EXPECT_EQ(counts->calm, 46);
  EXPECT_GE(counts->found, 19);
  EXPECT_LE(counts->false_alarms, 7);
}

TEST(Figures, AtMostThreeOfAHundredDiaryDaysAreAtEightOrAbove) {
  int days = 0;
  int high = 0;
  for (const char* name : {"barbellion_1903-1915", "galdos_fajardo_1847-1848", "pepys_1665"}) {
    const auto diary = read_diary(source("examples/diaries/" + std::string(name) + ".jsonl"));
    ASSERT_TRUE(diary.ok()) << diary.error().message;
    for (const DiaryDay& day : *diary) {
      ++days;
      high += analyse(day.notes).risk_level >= 8 ? 1 : 0;
    }
  }
  EXPECT_LE(high * 100, days * 3);
}

TEST(Figures, AMissingFileIsNamed) {
  const auto figures = figures_markdown({"no-such-file", "no-such-folder"});
  ASSERT_FALSE(figures.ok());
  EXPECT_EQ(figures.error().code, ErrorCode::not_found);
  EXPECT_THAT(figures.error().message, testing::HasSubstr("no-such-file"));
}

}  // namespace
}  // namespace belay::rules
