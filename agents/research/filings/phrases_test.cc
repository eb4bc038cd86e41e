#include "agents/research/filings/phrases.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "agents/research/filings/quotes.h"

namespace belay::research {
namespace {

std::uint64_t count_in(std::string_view text, std::string_view phrase) {
  return PhraseText(text).count(phrase);
}

// Returns the bytes of the first occurrence, or "-".
std::string first_in(std::string_view text, std::string_view phrase) {
  const auto first = PhraseText(text).first(phrase);
  return first ? std::string(first->of(text)) : "-";
}

TEST(Phrases, CaseAndWhiteSpaceDoNotMatter) {
  EXPECT_EQ(count_in("Going Concern, GOING\n CONCERN", "going concern"), 2u);
  EXPECT_EQ(count_in("going\r\nconcern going \t\v\f concern", "going concern"), 2u);
  EXPECT_EQ(count_in("going\xC2\xA0"
                     "concern going \xC2\xA0\n concern",
                     "going concern"),
            2u);
  EXPECT_EQ(count_in("goingconcern going-concern going\xA0"
                     "concern",
                     "going concern"),
            0u);
  EXPECT_EQ(count_in(std::string_view("going\0concern", 13), "going concern"), 0u);
}

TEST(Phrases, RowsOfTablesAreSearched) {
  EXPECT_EQ(count_in("Item | going concern | 3\n| impairment |\nloss", "going concern"), 1u);
  EXPECT_EQ(count_in("going |\nconcern", "going concern"), 0u);
}

TEST(Phrases, WordsHaveNoBoundaries) {
  EXPECT_EQ(count_in("impairments and unimpairment", "impairment"), 2u);
  EXPECT_EQ(count_in("This effective date", "is effective"), 1u);
  EXPECT_EQ(count_in("were not effective", "were effective"), 0u);
  EXPECT_EQ(count_in("10% or more, 110% or more", "10% or more"), 2u);
}

TEST(Phrases, OccurrencesDoNotOverlap) {
  EXPECT_EQ(count_in("aaaaa", "aa"), 2u);
  EXPECT_EQ(count_in("is is is is", "is is"), 2u);
}

TEST(Phrases, APhraseThatIsNotThereHasNoPlace) {
  EXPECT_EQ(count_in("", "going concern"), 0u);
  EXPECT_EQ(first_in("", "going concern"), "-");
  EXPECT_EQ(first_in("going concer", "going concern"), "-");
  EXPECT_EQ(count_in("text", ""), 0u);
  EXPECT_EQ(first_in("text", ""), "-");
}

TEST(Phrases, TheFirstOccurrenceHasItsBytesInTheDocument) {
  EXPECT_EQ(first_in("A Going \n\xC2\xA0"
                     "Concern. A going concern.",
                     "going concern"),
            "Going \n\xC2\xA0"
            "Concern");
  const auto first = PhraseText("  \n  x going concern").first("going concern");
  ASSERT_TRUE(first);
  EXPECT_EQ(*first, (TextSpan{7, 20}));
}

TEST(Phrases, AnItemsTextIsSearchedWithoutItsPartLines) {
  const TenKText text(
      "It was effective.\nItem 9A. Controls and Procedures\nIt was\nPART III\neffective.\n"
      "Item 9B. Other Information\nIt was effective.\n");
  const PhraseText controls(text.bytes(), *text.item("9A"));
  EXPECT_EQ(controls.count("was effective"), 1u);
  EXPECT_EQ(controls.count("controls"), 0u);
  EXPECT_EQ(controls.count("part"), 0u);
  EXPECT_EQ(controls.first("was effective")->of(text.bytes()), "was\nPART III\neffective");
  EXPECT_EQ(PhraseText(text.bytes()).count("was effective"), 2u);
  EXPECT_EQ(PhraseText(text.bytes()).count("was part iii effective"), 1u);
}

TEST(Phrases, TenMegabytesOfWhiteSpaceAreOneSpace) {
  const std::string text = "going" + std::string(10'000'000, '\n') + "concern";
  EXPECT_EQ(count_in(text, "going concern"), 1u);
  const auto first = PhraseText(text).first("going concern");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->size(), text.size());
  EXPECT_EQ(quote_around(text, *first).text.size(), kQuoteBytesMax);
}

}  // namespace
}  // namespace belay::research
