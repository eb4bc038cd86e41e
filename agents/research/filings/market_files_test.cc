#include "agents/research/filings/market_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/finance/market_figures.h"

namespace belay::research {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// "2022-12-28=1.5" of each row; "absent" if there is no such series.
std::vector<std::string> market_rows(const MarketData& data, std::string_view name) {
  const Series* series = data.find(name);
  if (series == nullptr) return {"absent"};
  std::vector<std::string> rows;
  for (const MarketRow& row : series->rows()) {
    std::string value = std::to_string(row.value);
    value.erase(value.find_last_not_of('0') + 1);
    rows.push_back(row.date.text() + "=" + value);
  }
  return rows;
}

MarketFiles files_of(MarketFileKind kind, std::string_view bytes) {
  MarketFiles files;
  files.read(kind, "a.csv", bytes);
  return files;
}

TEST(MarketFiles, AreRecognisedByTheirNames) {
  EXPECT_EQ(market_file_kind("monthly_adjclose_1990-2022.csv"), MarketFileKind::prices);
  EXPECT_EQ(market_file_kind("monthly_adjclose.csv"), MarketFileKind::prices);
  EXPECT_EQ(market_file_kind("sp500_shiller_monthly.csv"), MarketFileKind::shiller);
  EXPECT_EQ(market_file_kind("us_treasury_10y_monthly.csv"), MarketFileKind::treasury);
  for (const char* name : {"", "README.md", "monthly_adjclose.txt", "sp500_shiller_monthly.csv.bak",
                           "my_monthly_adjclose.csv"}) {
    EXPECT_EQ(market_file_kind(name), std::nullopt) << name;
  }
}

TEST(MarketFiles, PricesHaveAColumnPerTickerAndBlanksAreNoValues) {
  const auto files = files_of(MarketFileKind::prices,
                              "Date,AAPL,JPM\n2022-11-30,147.6,\n2022-12-28,125.674,129.575\n");

  EXPECT_THAT(market_rows(files.data(), "price:AAPL"),
              ElementsAre("2022-11-30=147.6", "2022-12-28=125.674"));
  EXPECT_THAT(market_rows(files.data(), "price:JPM"), ElementsAre("2022-12-28=129.575"));
  EXPECT_THAT(files.problems().texts, IsEmpty());
}

TEST(MarketFiles, OnlyTheColumnsOfTheTickersAreKept) {
  MarketFiles files({"JPM", "KO"});
  files.read(MarketFileKind::prices, "a.csv", "Date,AAPL,JPM\n2022-12-28,1.5,2.5\n");

  EXPECT_THAT(market_rows(files.data(), "price:AAPL"), ElementsAre("absent"));
  EXPECT_THAT(market_rows(files.data(), "price:KO"), ElementsAre("absent"));
  EXPECT_THAT(market_rows(files.data(), "price:JPM"), ElementsAre("2022-12-28=2.5"));
}

TEST(MarketFiles, ZeroIsUnknownInShillersFileOnly) {
  const auto shiller = files_of(MarketFileKind::shiller,
                                "Date,SP500,Dividend,Earnings,Consumer Price Index,PE10\n"
                                "2023-06-01,4345.5,68.5,181.25,305.5,29.5\n"
                                "2023-07-01,4508.5,0.0,0.0,305.75,0\n");
  EXPECT_THAT(market_rows(shiller.data(), "sp500"),
              ElementsAre("2023-06-01=4345.5", "2023-07-01=4508.5"));
  EXPECT_THAT(market_rows(shiller.data(), "shiller:Dividend"), ElementsAre("2023-06-01=68.5"));
  EXPECT_THAT(market_rows(shiller.data(), "shiller:Consumer Price Index"),
              ElementsAre("2023-06-01=305.5", "2023-07-01=305.75"));
  EXPECT_THAT(market_rows(shiller.data(), "shiller:PE10"), ElementsAre("2023-06-01=29.5"));
  EXPECT_THAT(market_rows(shiller.data(), "shiller:Earnings"), ElementsAre("absent"));
  EXPECT_THAT(shiller.problems().texts, IsEmpty());

  const auto treasury = files_of(MarketFileKind::treasury, "Date,Rate\n2020-05-01,0.0\n");
  EXPECT_THAT(market_rows(treasury.data(), "treasury_10y"), ElementsAre("2020-05-01=0."));
}

TEST(MarketFiles, LaterFilesAddColumnsAndReplaceValues) {
  MarketFiles files;
  files.read(MarketFileKind::prices, "a.csv", "Date,A,B\n2022-11-30,1,10\n2022-12-28,2,20\n");
  files.read(MarketFileKind::prices, "b.csv", "Date,B,C\n2022-12-30,21,30\n2023-01-31,,31\n");

  EXPECT_THAT(market_rows(files.data(), "price:A"), ElementsAre("2022-11-30=1.", "2022-12-28=2."));
  EXPECT_THAT(market_rows(files.data(), "price:B"),
              ElementsAre("2022-11-30=10.", "2022-12-30=21."));
  EXPECT_THAT(market_rows(files.data(), "price:C"),
              ElementsAre("2022-12-30=30.", "2023-01-31=31."));
}

TEST(MarketFiles, ACellWithoutANumberReplacesNothing) {
  MarketFiles files;
  files.read(MarketFileKind::shiller, "a.csv", "Date,SP500,Dividend\n2022-12-01,100,5\n");
  files.read(MarketFileKind::shiller, "b.csv", "Date,SP500,Dividend\n2022-12-01,,0.0\n");

  EXPECT_THAT(market_rows(files.data(), "sp500"), ElementsAre("2022-12-01=100."));
  EXPECT_THAT(market_rows(files.data(), "shiller:Dividend"), ElementsAre("2022-12-01=5."));
}

TEST(MarketFiles, OfTwoRowsOfAMonthTheLaterLineIsKeptAndReported) {
  const auto files =
      files_of(MarketFileKind::treasury, "Date,Rate\n2020-05-02,1\n2020-04-01,3\n2020-05-01,2\n");

  EXPECT_THAT(market_rows(files.data(), "treasury_10y"),
              ElementsAre("2020-04-01=3.", "2020-05-01=2."));
  EXPECT_THAT(files.problems().texts, ElementsAre("a.csv, line 4: a row of 2020-05 came before"));
}

TEST(MarketFiles, LineEndsQuotesBlanksAndAByteOrderMarkDoNotMatter) {
  const auto files = files_of(MarketFileKind::prices,
                              "\xEF\xBB\xBF\"Date\", AAPL ,\"MSFT\"\r\n\r\n"
                              "2022-11-30, 1.5 ,\"2.5\"\r\n   \r\n2022-12-28,3.5,4.5");

  EXPECT_THAT(market_rows(files.data(), "price:AAPL"),
              ElementsAre("2022-11-30=1.5", "2022-12-28=3.5"));
  EXPECT_THAT(market_rows(files.data(), "price:MSFT"),
              ElementsAre("2022-11-30=2.5", "2022-12-28=4.5"));
  EXPECT_THAT(files.problems().texts, IsEmpty());
}

TEST(MarketFiles, ColumnsMayComeInAnyOrder) {
  const auto files =
      files_of(MarketFileKind::treasury, "Source,Rate,Date\nFederal Reserve,4.5,2020-05-01\n");

  EXPECT_THAT(market_rows(files.data(), "treasury_10y"), ElementsAre("2020-05-01=4.5"));
}

TEST(MarketFiles, RowsThatCannotBeReadAreSkippedAndReported) {
  const auto files = files_of(MarketFileKind::prices,
                              "Date,A,B\n"
                              "2022-13-28,1,1\n"
                              "12/28/2022,1,1\n"
                              "2022-08-31,1\n"
                              "2022-09-30,1,000,1\n"
                              "2022-10-31,n/a,2\n"
                              "2022-11-30,nan,inf\n"
                              "2022-12-28,1e999,0x10\n"
                              "2023-01-31,7,1.5.5\n");

  EXPECT_THAT(market_rows(files.data(), "price:A"), ElementsAre("2023-01-31=7."));
  EXPECT_THAT(market_rows(files.data(), "price:B"), ElementsAre("2022-10-31=2."));
  EXPECT_THAT(
      files.problems().texts,
      ElementsAre(
          "a.csv, line 2: the date \"2022-13-28\" is not YYYY-MM-DD",
          "a.csv, line 3: the date \"12/28/2022\" is not YYYY-MM-DD",
          "a.csv, line 4: the row does not have as many cells as the header and is skipped",
          "a.csv, line 5: the row does not have as many cells as the header and is skipped",
          "a.csv, line 6: \"n/a\" is not a number", "a.csv, line 7: \"nan\" is not a number",
          "a.csv, line 7: \"inf\" is not a number", "a.csv, line 8: \"1e999\" is not a number",
          "a.csv, line 8: \"0x10\" is not a number", "a.csv, line 9: \"1.5.5\" is not a number"));
}

TEST(MarketFiles, AFileWithAnotherHeaderIsNotRead) {
  const auto prices = files_of(MarketFileKind::prices, "Day,A\n2022-12-28,1\n");
  EXPECT_TRUE(prices.data().all().empty());
  EXPECT_THAT(prices.problems().texts,
              ElementsAre("a.csv: the header has no column Date; the file is not read"));

  const auto treasury = files_of(MarketFileKind::treasury, "Date,Yield\n2022-12-01,1\n");
  EXPECT_TRUE(treasury.data().all().empty());
  EXPECT_THAT(treasury.problems().texts,
              ElementsAre("a.csv: the header has no column that is known"));

  EXPECT_THAT(files_of(MarketFileKind::prices, "").problems().texts,
              ElementsAre("a.csv: the file is empty"));
  EXPECT_THAT(files_of(MarketFileKind::prices, "\n \r\n").problems().texts,
              ElementsAre("a.csv: the file is empty"));
}

TEST(MarketFiles, OfTwoColumnsWithOneNameTheLaterIsKept) {
  const auto files = files_of(MarketFileKind::prices, "Date,A,A\n2022-12-28,1,2\n");

  EXPECT_THAT(market_rows(files.data(), "price:A"), ElementsAre("2022-12-28=2."));
  EXPECT_THAT(files.problems().texts,
              ElementsAre("a.csv, line 1: two columns have the name \"A\""));
}

TEST(MarketFiles, AFileWithTooManyColumnsOrValuesIsNotRead) {
  std::string wide = "Date";
  for (std::size_t i = 0; i < kMarketColumnsMax; ++i) wide += ",c" + std::to_string(i);
  const auto wide_files = files_of(MarketFileKind::prices, wide + "\n");
  EXPECT_TRUE(wide_files.data().all().empty());
  EXPECT_THAT(wide_files.problems().texts,
              ElementsAre("a.csv: the file has more than 20000 columns and is not read"));

  std::string large = "Date";
  std::string row = "2022-12-28";
  for (int i = 0; i < 1000; ++i) {
    large += ",c" + std::to_string(i);
    row += ",1";
  }
  for (int i = 0; i < 2001; ++i) large += "\n" + row;
  const auto large_files = files_of(MarketFileKind::prices, large);
  EXPECT_TRUE(large_files.data().all().empty());
  EXPECT_EQ(large_files.problems().texts.back(),
            "a.csv: the file has more than 2000000 values and is not read");
}

TEST(MarketFiles, ProblemsAreBoundedInNumberAndLength) {
  std::string bytes = "Date,A\n";
  for (int i = 0; i < 5000; ++i) bytes += std::string(200, '\x01') + ",1\n";
  const auto files = files_of(MarketFileKind::prices, bytes);

  EXPECT_EQ(files.problems().texts.size(), kMarketLineProblemsMax);
  EXPECT_EQ(files.problems().count, 5000u);
  EXPECT_EQ(files.problems().texts[0],
            "a.csv, line 2: the date \"" + std::string(40, '?') + "...\" is not YYYY-MM-DD");
}

TEST(MarketFiles, AnyBytesAreAccepted) {
  const std::string seed = "Date,SP500,Dividend\n2022-11-01,1.5,2e3\r\n\"2022-12-01\",-4,0.0\n";
  std::uint32_t state = 12345;  // a linear congruential generator, the same on every machine
  const auto next = [&state](std::uint32_t limit) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % limit;
  };
  std::size_t read_rows = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = seed;
    for (std::uint32_t i = next(6) + 1; i > 0; --i) {
      const std::size_t place = next(static_cast<std::uint32_t>(bytes.size()));
      if (next(3) == 0) bytes.erase(place, next(8));
      if (bytes.empty()) bytes = "\n";
      bytes[place % bytes.size()] =
          static_cast<char>(next(3) == 0 ? next(256) : ",\n\"-0"[next(5)]);
    }
    for (const auto kind :
         {MarketFileKind::prices, MarketFileKind::shiller, MarketFileKind::treasury}) {
      const auto files = files_of(kind, bytes);
      for (const auto& [name, series] : files.data().all()) {
        for (const MarketRow& row : series.rows()) {
          ++read_rows;
          ASSERT_TRUE(std::isfinite(row.value));
          ASSERT_EQ(Month::of(row.date), row.month);
        }
      }
    }
  }
  EXPECT_GT(read_rows, 20000u);
}

// ---- the bundled data

std::string bundled_file(const std::string& name) {
  std::ifstream file(BELAY_SOURCE_DIR "/agents/research/data/prices/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

MarketFiles bundled_files() {
  MarketFiles files;
  for (const char* name : {"monthly_adjclose_1990-2022.csv", "sp500_shiller_monthly.csv",
                           "us_treasury_10y_monthly.csv"}) {
    files.read(*market_file_kind(name), name, bundled_file(name));
  }
  return files;
}

double bundled_figure(const std::vector<Figure>& figures, std::string_view metric,
                      std::string_view period_end) {
  for (const Figure& figure : figures) {
    if (figure.metric != metric) continue;
    EXPECT_EQ(figure.period_end, period_end) << metric;
    EXPECT_TRUE(figure.quantity.is_available()) << metric << " " << figure.quantity.reason();
    return figure.quantity.value();
  }
  ADD_FAILURE() << "no figure " << metric;
  return 0;
}

auto equal_to_1e12(double expected) { return DoubleNear(expected, std::abs(expected) * 1e-12); }

TEST(BundledMarketData, IsReadWithoutProblems) {
  const MarketFiles files = bundled_files();

  EXPECT_THAT(files.problems().texts, IsEmpty());
  EXPECT_EQ(files.data().all().size(), 11u + 4u + 1u);
  EXPECT_EQ(files.data().find("price:AAPL")->rows().size(), 396u);
  EXPECT_EQ(files.data().find("sp500")->rows().size(), 1866u);
  EXPECT_EQ(files.data().find("treasury_10y")->rows().size(), 879u);
  EXPECT_EQ(files.data().find("shiller:PE10")->rows().front().date.text(), "1881-01-01");
}

TEST(BundledMarketData, ApplesBetaIsTheGoldenValue) {
  const MarketFiles files = bundled_files();
  const Constants constants;
  const MarketView view{files.data(), constants, *Date::parse("2026-01-30"), "AAPL",
                        *Date::parse("2025-09-27")};
  const auto figures = market_sensitivity(view);

  EXPECT_THAT(bundled_figure(figures, "beta_raw", "2022-12-28"), equal_to_1e12(1.4585285252293487));
  EXPECT_THAT(bundled_figure(figures, "beta_adjusted", "2022-12-28"),
              equal_to_1e12(1.3056856834862323));
  // Calculated with exact fractions.
  EXPECT_THAT(bundled_figure(figures, "beta_r_squared", "2022-12-28"),
              equal_to_1e12(0.23664700234898398));
  EXPECT_EQ(bundled_figure(figures, "beta_months", "2022-12-28"), 60);
}

TEST(BundledMarketData, ShareholderReturnsOfAppleAreThoseOfTheFiles) {
  const MarketFiles files = bundled_files();
  const Constants constants;
  const MarketView view{files.data(), constants, *Date::parse("2026-01-30"), "AAPL",
                        *Date::parse("2025-09-27")};
  const auto figures = shareholder_returns(view);

  // 125.674 / 40.113 and 125.674 / 16.298.
  EXPECT_THAT(bundled_figure(figures, "tsr_5y", "2022-12-28"), equal_to_1e12(0.25658554322204363));
  EXPECT_THAT(bundled_figure(figures, "tsr_10y", "2022-12-28"), equal_to_1e12(0.22662302466575412));
  EXPECT_THAT(bundled_figure(figures, "sp500_tsr_5y", "2022-12-28"),
              equal_to_1e12(0.09861027626549723));
  EXPECT_THAT(bundled_figure(figures, "sp500_tsr_10y", "2022-12-28"),
              equal_to_1e12(0.12734304334961655));
  EXPECT_THAT(bundled_figure(figures, "tsr_excess_10y", "2022-12-28"),
              equal_to_1e12(0.09927998131613758));
}

TEST(BundledMarketData, MacroFiguresUseTheLastKnownMonthOfEachColumn) {
  const MarketFiles files = bundled_files();
  const Constants constants;
  const MarketView view{files.data(), constants, *Date::parse("2026-01-30"), "GOOGL",
                        *Date::parse("2025-12-31")};
  const auto figures = macro_context(view);

  EXPECT_THAT(bundled_figure(figures, "risk_free_rate", "2025-12-01"), equal_to_1e12(0.0414));
  EXPECT_THAT(bundled_figure(figures, "risk_free_rate_change_12m", "2025-12-01"),
              equal_to_1e12(-0.0024999999999999953));
  EXPECT_THAT(bundled_figure(figures, "cpi_inflation_12m", "2023-09-01"),
              equal_to_1e12(0.031400559280347684));
  EXPECT_THAT(bundled_figure(figures, "sp500_change_12m", "2025-12-01"),
              equal_to_1e12(0.14009858740190761));
  EXPECT_EQ(bundled_figure(figures, "cape", "2023-09-01"), 30.81);
}

TEST(BundledMarketData, AlphabetHasNoPricesAndNoBeta) {
  const MarketFiles files = bundled_files();
  const Constants constants;
  const MarketView view{files.data(), constants, *Date::parse("2026-01-30"), "GOOGL",
                        *Date::parse("2025-12-31")};
  for (const Figure& figure : market_sensitivity(view)) {
    EXPECT_THAT(figure.quantity.reason(), HasSubstr("no_market_data: price:GOOGL"));
    EXPECT_EQ(figure.period_end, "2025-12-31");
  }
}

}  // namespace
}  // namespace belay::research
