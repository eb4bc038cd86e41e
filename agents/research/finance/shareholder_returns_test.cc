#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agents/research/finance/market_figures.h"
#include "agents/research/finance/market_fixture.h"

namespace belay::research {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::StartsWith;

// Prices double every five years, the index level triples; a dividend of 24 per year.
TestMarket return_market() {
  TestMarket market;
  for (const auto& [month, price] :
       {std::pair{"2012-12", 10.0}, {"2017-12", 20.0}, {"2022-12", 40.0}}) {
    market.add(price_series("X"), month, price);
  }
  market.add_run(kIndexSeries, "2022-12", std::vector<double>(121, 100));
  market.add_run(kDividendSeries, "2022-12", std::vector<double>(121, 24));
  return market;
}

TEST(ShareholderReturns, AreAnnualReturnsOfThePriceAndOfTheIndexWithDividends) {
  const TestMarket market = return_market();
  const auto figures = shareholder_returns(market.view());

  EXPECT_THAT(metric_names(figures),
              testing::UnorderedElementsAre("tsr_5y", "tsr_10y", "sp500_tsr_5y", "sp500_tsr_10y",
                                            "tsr_excess_5y", "tsr_excess_10y"));
  // 2 in five years; 2 % per month.
  const double stock = std::pow(2, 0.2) - 1;
  const double index = std::pow(1.02, 12) - 1;
  for (const char* years : {"_5y", "_10y"}) {
    const std::string suffix = years;
    EXPECT_THAT(figure_named(figures, "tsr" + suffix).quantity.value(), DoubleNear(stock, 1e-12));
    EXPECT_THAT(figure_named(figures, "sp500_tsr" + suffix).quantity.value(),
                DoubleNear(index, 1e-12));
    EXPECT_THAT(figure_named(figures, "tsr_excess" + suffix).quantity.value(),
                DoubleNear(stock - index, 1e-12));
  }
  for (const Figure& figure : figures) {
    EXPECT_EQ(figure.specialist, "strategy");
    EXPECT_EQ(figure.subtask, "historical_roi");
    EXPECT_EQ(figure.unit, "ratio");
    EXPECT_EQ(figure.period_end, "2022-12-28");
  }
}

TEST(ShareholderReturns, TheIndexReturnIsTheProductOfItsMonths) {
  TestMarket market = return_market();
  market.add(kIndexSeries, "2022-12", 120);
  market.add(kDividendSeries, "2022-12", 36);
  market.add(kDividendSeries, "2017-12", 1e9);  // of the month before the first
  const Figure figure = figure_named(shareholder_returns(market.view()), "sp500_tsr_5y");

  EXPECT_THAT(figure.quantity.value(),
              DoubleNear(std::pow(std::pow(1.02, 59) * 1.23, 0.2) - 1, 1e-12));
}

TEST(ShareholderReturns, InputsAreTheFirstAndTheLastRows) {
  const TestMarket market = return_market();
  const auto figures = shareholder_returns(market.view());

  EXPECT_THAT(input_names(figure_named(figures, "tsr_10y").quantity),
              ElementsAre("price:X 2012-12-28", "price:X 2022-12-28"));
  EXPECT_THAT(input_names(figure_named(figures, "tsr_excess_5y").quantity),
              ElementsAre("price:X 2017-12-28", "price:X 2022-12-28", "shiller:Dividend 2018-01-01",
                          "shiller:Dividend 2022-12-01", "sp500 2017-12-01", "sp500 2022-12-01"));
}

TEST(ShareholderReturns, AMissingOpeningPriceConcernsTheStockOnly) {
  TestMarket market = return_market();
  MarketData data;
  for (const auto& [name, series] : market.data.all()) {
    if (name != "price:X") data.merge(name, series.rows());
  }
  market.data = data;
  market.add(price_series("X"), "2022-12", 40);
  const auto figures = shareholder_returns(market.view());

  const char* reason = "no_market_data: price:X has no usable value of 2017-12";
  EXPECT_EQ(figure_named(figures, "tsr_5y").quantity.reason(), reason);
  EXPECT_TRUE(figure_named(figures, "sp500_tsr_5y").quantity.is_available());
  EXPECT_EQ(figure_named(figures, "tsr_excess_5y").quantity.reason(), reason);
  EXPECT_EQ(figure_named(figures, "tsr_5y").period_end, "2022-12-28");
}

TEST(ShareholderReturns, AnUnknownMonthOfTheIndexOrADividendIsNoMarketData) {
  for (const std::string_view series : {kIndexSeries, kDividendSeries}) {
    TestMarket market = return_market();
    MarketData data;
    for (const auto& [name, rows] : market.data.all()) {
      std::vector<MarketRow> kept = rows.rows();
      if (name == series) {
        std::erase_if(kept, [](const MarketRow& row) { return row.month.text() == "2016-05"; });
      }
      data.merge(name, kept);
    }
    market.data = data;
    const auto figures = shareholder_returns(market.view());
    const std::string reason =
        "no_market_data: " + std::string(series) + " has no usable value of 2016-05";

    EXPECT_TRUE(figure_named(figures, "sp500_tsr_5y").quantity.is_available());
    EXPECT_EQ(figure_named(figures, "sp500_tsr_10y").quantity.reason(), reason);
    EXPECT_EQ(figure_named(figures, "tsr_excess_10y").quantity.reason(), reason);
    EXPECT_TRUE(figure_named(figures, "tsr_10y").quantity.is_available());
  }
}

TEST(ShareholderReturns, PricesThatAreTooOldAreNoMarketData) {
  TestMarket market = return_market();
  market.as_of = "2027-01-01";
  for (const Figure& figure : shareholder_returns(market.view())) {
    EXPECT_THAT(figure.quantity.reason(),
                StartsWith("no_market_data: price:X can be used to 2022-12"));
    EXPECT_EQ(figure.period_end, "2022-12-28");
  }
  market.as_of = "2026-12-31";
  for (const Figure& figure : shareholder_returns(market.view())) {
    EXPECT_TRUE(figure.quantity.is_available()) << figure.metric;
  }
}

TEST(ShareholderReturns, WithoutPricesThePeriodIsTheFiscalYear) {
  TestMarket market;
  market.add(price_series("X"), "2023-01", 40);  // not usable yet
  for (const Figure& figure : shareholder_returns(market.view())) {
    EXPECT_EQ(figure.quantity.reason(), "no_market_data: price:X has no value until 2022-12");
    EXPECT_EQ(figure.period_end, "2022-09-30");
  }
}

TEST(ShareholderReturns, APriceThatIsNotPositiveIsNonPositive) {
  for (const double opening : {0.0, -20.0}) {
    TestMarket market = return_market();
    market.add(price_series("X"), "2017-12", opening);
    market.add(price_series("X"), "2022-12", -40);
    for (const char* metric : {"tsr_5y", "tsr_10y", "tsr_excess_5y"}) {
      const Figure figure = figure_named(shareholder_returns(market.view()), metric);
      EXPECT_EQ(figure.quantity.reason(), "non_positive: the result is not finite") << metric;
    }
  }
}

}  // namespace
}  // namespace belay::research
