#include "agents/research/analysis/ticker_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace belay::research {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string refusal_of(const std::string& text) {
  auto read = tickers_in(text);
  return read.ok() ? "accepted" : read.error().message;
}

TEST(TickerFile, HasOneCompanyALineInTheOrderOfTheFile) {
  auto read = tickers_in("# chips\nNVDA\n\n  BRK-B \t# comment\nZZZZ = 99\n").value();
  EXPECT_THAT(read, ElementsAre(BatchTicker{"NVDA", ""}, BatchTicker{"BRK-B", ""},
                                BatchTicker{"ZZZZ", "99"}));
}

TEST(TickerFile, MayComeFromWindows) {
  auto read = tickers_in(
                  "\xEF\xBB\xBF"
                  "AAPL\r\n\r\nMSFT")
                  .value();
  EXPECT_THAT(read, ElementsAre(BatchTicker{"AAPL", ""}, BatchTicker{"MSFT", ""}));
}

TEST(TickerFile, ARepeatedLineCountsOnceAndAContradictionIsRefused) {
  auto read = tickers_in("ZZZZ=99\nAAPL\nZZZZ=0000000099\nAAPL\n").value();
  EXPECT_THAT(read, ElementsAre(BatchTicker{"ZZZZ", "99"}, BatchTicker{"AAPL", ""}));
  EXPECT_THAT(refusal_of("ZZZZ=99\nZZZZ=98\n"), HasSubstr("Line 2: The ticker ZZZZ appears twice"));
}

TEST(TickerFile, AnErrorNamesTheLineAndShowsNoControlCharacters) {
  EXPECT_THAT(refusal_of("AAPL\naapl\n"), HasSubstr("Line 2: Invalid ticker \"aapl\""));
  EXPECT_THAT(refusal_of("\x1b[31mAAPL\n"), HasSubstr("Invalid ticker \"?[31mAAPL\""));
  EXPECT_THAT(refusal_of("AAPL,MSFT"), HasSubstr("Line 1: Invalid ticker"));
  EXPECT_THAT(refusal_of("ZZZZ=\n"), HasSubstr("Line 1: Invalid CIK \"\" of ZZZZ"));
  EXPECT_THAT(refusal_of("ZZZZ=12345678901\n"), HasSubstr("Invalid CIK"));
  EXPECT_THAT(refusal_of("\xff\xfe"
                         "A"),
              HasSubstr("Invalid ticker \"??A\""));
  EXPECT_LT(refusal_of(std::string(100'000, 'A')).size(), 200u);
}

TEST(TickerFile, WithoutACompanyIsRefused) {
  for (const char* text : {"", "\n\n", "# nothing\r\n", "\xEF\xBB\xBF"}) {
    EXPECT_THAT(refusal_of(text), HasSubstr("It has no ticker"));
  }
}

TEST(TickerFile, HasAtMostAThousandCompanies) {
  std::string text;
  for (std::size_t i = 0; i < kCompaniesMax; ++i) text += "T" + std::to_string(i) + "\n";
  EXPECT_EQ(tickers_in(text).value().size(), kCompaniesMax);
  EXPECT_THAT(refusal_of(text + "T0\n"), "accepted");
  EXPECT_THAT(refusal_of(text + "ONE\n"), HasSubstr("Line 1001: Too many companies: at most 1000"));
}

}  // namespace
}  // namespace belay::research
