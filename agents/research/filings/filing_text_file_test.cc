#include "agents/research/filings/filing_text_file.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace belay::research {
namespace {

Date filed_on(const char* text) { return *Date::parse(text); }

TEST(FilingTextFile, ItsNameHasTheTickerAndTheDate) {
  const auto name = parse_filing_text_name("AAPL-10-K-2024-11-01.txt");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->ticker, "AAPL");
  EXPECT_EQ(name->filed, filed_on("2024-11-01"));
  EXPECT_EQ(parse_filing_text_name("BRK-B-10-K-2024-02-26.txt")->ticker, "BRK-B");
  EXPECT_EQ(parse_filing_text_name("X-10-K-10-K-2024-02-26.txt")->ticker, "X-10-K");
}

TEST(FilingTextFile, OtherNamesAreNone) {
  for (const char* name :
       {"", ".txt", "AAPL.txt", "-10-K-2024-11-01.txt", "AAPL-10-K-2024-11-31.txt",
        "AAPL-10-K-2024-11-01", "AAPL-10-K-2024-11-01.TXT", "AAPL-10-Q-2024-11-01.txt",
        "AAPL-10-K-2024-11-1.txt", "AAPL-10-K_2024-11-01.txt", "AAPL10-K-2024-11-01.txt",
        "2024-11-01.txt", "AAPL-10-K-2024-11-01.txt.bak"}) {
    EXPECT_FALSE(parse_filing_text_name(name)) << name;
  }
}

TEST(FilingTextFile, TheLatestUpToTheDateIsChosen) {
  const std::vector<FilingTextName> names = {{"A", filed_on("2023-11-03")},
                                             {"A", filed_on("2024-11-01")},
                                             {"B", filed_on("2024-12-01")},
                                             {"A", filed_on("2022-10-28")}};
  EXPECT_EQ(latest_filing_text(names, "A", filed_on("2026-01-30")), 1u);
  EXPECT_EQ(latest_filing_text(names, "A", filed_on("2024-11-01")), 1u);
  EXPECT_EQ(latest_filing_text(names, "A", filed_on("2024-10-31")), 0u);
  EXPECT_EQ(latest_filing_text(names, "A", filed_on("2022-10-27")), std::nullopt);
  EXPECT_EQ(latest_filing_text(names, "a", filed_on("2026-01-30")), std::nullopt);
  EXPECT_EQ(latest_filing_text({}, "A", filed_on("2026-01-30")), std::nullopt);
}

TEST(FilingTextFile, OfTwoFilesForADateTheLaterOneWins) {
  const std::vector<FilingTextName> names = {{"A", filed_on("2024-11-01")},
                                             {"A", filed_on("2024-11-01")}};
  EXPECT_EQ(latest_filing_text(names, "A", filed_on("2024-11-01")), 1u);
}

TEST(FilingTextFile, ItIsASourceWithItsSizeFormAndDate) {
  const Input input = filing_text_input(208622, filed_on("2024-11-01"));
  EXPECT_EQ(
      input,
      (Input{
          .concept_name = "filing-text", .value = 208622, .form = "10-K", .filed = "2024-11-01"}));
}

TEST(FilingTextFile, ItsFiguresBelongToTheLatestYearThatEndedBefore) {
  const std::vector<Date> ends = {filed_on("2023-09-30"), filed_on("2025-09-27"),
                                  filed_on("2024-09-28")};
  EXPECT_EQ(filing_text_period_end(ends, filed_on("2024-11-01")), filed_on("2024-09-28"));
  EXPECT_EQ(filing_text_period_end(ends, filed_on("2024-09-28")), filed_on("2024-09-28"));
  EXPECT_EQ(filing_text_period_end(ends, filed_on("2026-11-01")), filed_on("2025-09-27"));
  EXPECT_EQ(filing_text_period_end(ends, filed_on("2020-11-01")), filed_on("2025-09-27"));
}

}  // namespace
}  // namespace belay::research
