#include "agents/research/filings/item_headings.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace belay::research {
namespace {

// Returns the item's name, or "-".
std::string heading_of(std::string_view line) {
  const auto item = item_of_heading(line);
  return item ? std::string(kItemTitles[*item].item) : "-";
}

TEST(ItemHeadings, EveryItemOfTheFormIsRecognized) {
  const std::string_view lines[] = {
      "Item 1. Business",
      "Item 1A. Risk Factors",
      "Item 1B. Unresolved Staff Comments",
      "Item 1C. Cybersecurity",
      "Item 2. Properties",
      "Item 3. Legal Proceedings",
      "Item 4. Mine Safety Disclosures",
      "Item 5. Market for Registrant's Common Equity",
      "Item 6. [Reserved]",
      "Item 7. Management's Discussion and Analysis",
      "Item 7A. Quantitative and Qualitative Disclosures About Market Risk",
      "Item 8. Financial Statements and Supplementary Data",
      "Item 9. Changes in and Disagreements with Accountants",
      "Item 9A. Controls and Procedures",
      "Item 9B. Other Information",
      "Item 9C. Disclosure Regarding Foreign Jurisdictions",
      "Item 10. Directors, Executive Officers and Corporate Governance",
      "Item 11. Executive Compensation",
      "Item 12. Security Ownership of Certain Beneficial Owners",
      "Item 13. Certain Relationships and Related Transactions",
      "Item 14. Principal Accountant Fees and Services",
      "Item 15. Exhibits and Financial Statement Schedules",
      "Item 16. Form 10-K Summary"};
  std::size_t index = 0;
  for (const std::string_view line : lines) EXPECT_EQ(item_of_heading(line), index++) << line;
  EXPECT_EQ(index, kTenKItems);
  EXPECT_EQ(heading_of("Item 6. Selected Financial Data"), "6");
  EXPECT_EQ(heading_of("Item 8. Consolidated Financial Statements"), "8");
}

TEST(ItemHeadings, CaseAndPunctuationDoNotMatter) {
  EXPECT_EQ(heading_of("ITEM 1A. RISK FACTORS"), "1A");
  EXPECT_EQ(heading_of("item 1a - risk factors"), "1A");
  EXPECT_EQ(heading_of("Item 1A.Risk Factors"), "1A");
  EXPECT_EQ(heading_of("Item 1A: Risk Factors"), "1A");
  EXPECT_EQ(heading_of("Item 1A \xE2\x80\x94 \xE2\x80\x9CRisk Factors\xE2\x80\x9D"), "1A");
  EXPECT_EQ(heading_of("Item 6. (2024) [Reserved]"), "6");
  EXPECT_EQ(heading_of("Item 1 (see page 5) Business"), "-");
}

TEST(ItemHeadings, TheTitleMustBeginWithTheItemsWord) {
  EXPECT_EQ(heading_of("Item 1. Risk Factors"), "-");
  EXPECT_EQ(heading_of("Item 1. The Business"), "-");
  EXPECT_EQ(heading_of("Item 7 of this Form 10-K"), "-");
  EXPECT_EQ(heading_of("Item 1A."), "-");
  EXPECT_EQ(heading_of("Item 1. Businesses of the company"), "1");
}

TEST(ItemHeadings, TheNumberIsOneToSixteenWithAnOptionalLetter) {
  EXPECT_EQ(heading_of("Item 0. Business"), "-");
  EXPECT_EQ(heading_of("Item 01. Business"), "-");
  EXPECT_EQ(heading_of("Item 17. Form 10-K Summary"), "-");
  EXPECT_EQ(heading_of("Item 160. Form 10-K Summary"), "-");
  EXPECT_EQ(heading_of("Item 1D. Business"), "-");
  EXPECT_EQ(heading_of("Item 10A. Directors"), "-");
  EXPECT_EQ(heading_of("Item 1AB. Risk Factors"), "-");
  EXPECT_EQ(heading_of("Item 1A1. Risk Factors"), "-");
  EXPECT_EQ(heading_of("Item 1Business"), "-");
  EXPECT_EQ(heading_of("Item 1 A. Risk Factors"), "-");
  EXPECT_EQ(heading_of("Item . Business"), "-");
  EXPECT_EQ(heading_of("Item"), "-");
  EXPECT_EQ(heading_of("Item "), "-");
  EXPECT_EQ(heading_of("Item 1"), "-");
}

TEST(ItemHeadings, TheLineBeginsWithItemAndABlank) {
  EXPECT_EQ(heading_of("Items 1 and 2. Business and Properties"), "-");
  EXPECT_EQ(heading_of("Item1. Business"), "-");
  EXPECT_EQ(heading_of("See Item 1. Business"), "-");
  EXPECT_EQ(heading_of("| Item 1. Business"), "-");
  EXPECT_EQ(heading_of("Item\t 1. Business"), "1");
}

TEST(ItemHeadings, ANoBreakSpaceIsASpace) {
  EXPECT_EQ(heading_of("\xC2\xA0\t Item\xC2\xA0"
                       "1A.\xC2\xA0Risk Factors \xC2\xA0"),
            "1A");
  EXPECT_EQ(heading_of("Item 1. | Business |\xC2\xA0"
                       "5"),
            "-");
  // A byte alone is not valid UTF-8, and no blank.
  EXPECT_EQ(heading_of("\xA0Item 1. Business"), "-");
  EXPECT_EQ(heading_of("Item\xA0"
                       "1. Business"),
            "-");
}

TEST(ItemHeadings, ATableOfContentsRowIsNoHeading) {
  EXPECT_EQ(heading_of("Item 1. | Business | 5"), "-");
  EXPECT_EQ(heading_of("Item 1. Business |5"), "-");
  EXPECT_EQ(heading_of("Item 1. | Business | \t 105  "), "-");
  EXPECT_EQ(heading_of("Item 1. | Business"), "1");
  EXPECT_EQ(heading_of("Item 1. | Business |"), "1");
  EXPECT_EQ(heading_of("Item 1. Business 5"), "1");
  EXPECT_EQ(heading_of("Item 1. | Business | F-5"), "1");
}

TEST(ItemHeadings, AHeadingHasAtMost250CodePoints) {
  const std::string start = "Item 1. Business ";
  const std::string longest = start + std::string(250 - start.size(), 'x');
  EXPECT_EQ(heading_of(longest), "1");
  EXPECT_EQ(heading_of("  " + longest + "\xC2\xA0"), "1");
  EXPECT_EQ(heading_of(longest + "x"), "-");

  std::string wide = start;
  while (wide.size() < start.size() + 3 * (250 - start.size())) wide += "\xE2\x80\x99";
  EXPECT_EQ(heading_of(wide), "1");
  EXPECT_EQ(heading_of(wide + "\xE2\x80\x99"), "-");
}

TEST(ItemHeadings, OnlyPartAndARomanNumeralIsAPartLine) {
  for (const char* line :
       {"PART I", "Part II", "part iii", " \t Part\t IV \xC2\xA0", "PART xiv", "Part\xC2\xA0II"}) {
    EXPECT_TRUE(is_part_line(line)) << line;
  }
  for (const char* line : {"", "Part", "Part ", "PartII", "Part 2", "Part II.", "Part II, Item 7",
                           "Part C", "Part I I", "Parts II", "A Part II"}) {
    EXPECT_FALSE(is_part_line(line)) << line;
  }
}

}  // namespace
}  // namespace belay::research
