#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/finance/market_figures.h"
#include "agents/research/finance/market_fixture.h"

namespace belay::research {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

// Index changes of +10 % and -10 % in turn; the price moves by `factor` of that, plus 1 %.
void add_beta_months(TestMarket& market, std::string_view last, int months, double factor) {
  std::vector<double> index = {1000};
  std::vector<double> prices = {50};
  for (int i = 0; i < months; ++i) {
    const double change = i % 2 == 0 ? 0.1 : -0.1;
    index.push_back(index.back() * (1 + change));
    prices.push_back(prices.back() * (1 + factor * change + 0.01));
  }
  market.add_run(kIndexSeries, last, index);
  market.add_run(price_series("X"), last, prices);
}

TEST(MarketSensitivity, BetaIsFourThirdsOfTheSlopeAdjustedTowardsOne) {
  TestMarket market;
  add_beta_months(market, "2022-12", 40, 0.6);
  const auto figures = market_sensitivity(market.view());

  EXPECT_THAT(metric_names(figures),
              ElementsAre("beta_raw", "beta_adjusted", "beta_r_squared", "beta_months"));
  EXPECT_THAT(figures[0].quantity.value(), DoubleNear(0.8, 1e-12));
  EXPECT_THAT(figures[1].quantity.value(), DoubleNear(0.8 * 2 / 3 + 1.0 / 3, 1e-12));
  EXPECT_THAT(figures[2].quantity.value(), DoubleNear(1, 1e-12));
  EXPECT_EQ(figures[3].quantity.value(), 40);
  EXPECT_EQ(figures[0].unit, "ratio");
  EXPECT_EQ(figures[3].unit, "count");
  for (const Figure& figure : figures) {
    EXPECT_EQ(figure.specialist, "industry_macro");
    EXPECT_EQ(figure.subtask, "market_sensitivity");
    EXPECT_EQ(figure.period_end, "2022-12-28");
  }
  EXPECT_EQ(beta_adjusted(market.view()).value(), figures[1].quantity.value());
}

TEST(MarketSensitivity, InputsAreTheFirstAndTheLastRowsAndTheConstants) {
  TestMarket market;
  add_beta_months(market, "2022-12", 36, 0.6);
  const auto figures = market_sensitivity(market.view());

  EXPECT_THAT(
      input_names(figures[1].quantity),
      ElementsAre("config:beta_time_average_factor", "config:blume_weight", "price:X 2019-12-28",
                  "price:X 2022-12-28", "sp500 2019-12-01", "sp500 2022-12-01"));
  EXPECT_THAT(input_names(figures[3].quantity),
              ElementsAre("price:X 2019-12-28", "price:X 2022-12-28", "sp500 2019-12-01",
                          "sp500 2022-12-01"));
}

TEST(MarketSensitivity, UsesTheLast60Months) {
  TestMarket market;
  add_beta_months(market, "2022-12", 80, 0.6);
  // A jump in the 61st month before the end is outside; in the 60th it is inside.
  market.add(price_series("X"), "2017-11", 5000);
  auto figures = market_sensitivity(market.view());
  EXPECT_THAT(figures[0].quantity.value(), DoubleNear(0.8, 1e-12));
  EXPECT_EQ(figures[3].quantity.value(), 60);
  EXPECT_THAT(input_names(figures[3].quantity), testing::Contains("price:X 2017-12-28"));

  market.add(price_series("X"), "2017-12", 5000);
  figures = market_sensitivity(market.view());
  EXPECT_GT(std::abs(figures[0].quantity.value() - 0.8), 0.1);
}

TEST(MarketSensitivity, MonthsWithoutBothChangesArePassedOver) {
  TestMarket market;
  const Month last = *Month::parse("2022-12");
  for (int i = 0; i <= 50; ++i) {
    const std::string month = last.minus(i).text();
    // A month without a price has no return, nor has the month after it.
    if (i != 10) market.add(price_series("X"), month, i % 2 == 0 ? 110 : 100);
    if (i != 20 && i != 21) market.add(kIndexSeries, month, i % 4 < 2 ? 1100 : 1000);
  }
  const auto figures = market_sensitivity(market.view());

  EXPECT_EQ(figures[3].quantity.value(), 50 - 2 - 3);
}

TEST(MarketSensitivity, EndsWithTheLastMonthThatHasBoth) {
  TestMarket market;
  add_beta_months(market, "2022-10", 40, 0.6);
  market.add(price_series("X"), "2022-11", 1);
  market.add(price_series("X"), "2022-12", 2);
  const auto figures = market_sensitivity(market.view());

  EXPECT_THAT(figures[0].quantity.value(), DoubleNear(0.8, 1e-12));
  EXPECT_EQ(figures[0].period_end, "2022-10-28");
}

TEST(MarketSensitivity, DoesNotUseTheMonthOfTheAsOfDate) {
  TestMarket market;
  add_beta_months(market, "2023-01", 40, 0.6);
  const auto figures = market_sensitivity(market.view());

  EXPECT_EQ(figures[3].quantity.value(), 39);
  EXPECT_EQ(figures[0].period_end, "2022-12-28");
}

TEST(MarketSensitivity, FewerThan36MonthsAreTooLittleHistory) {
  TestMarket market;
  add_beta_months(market, "2022-12", 35, 0.6);
  for (const Figure& figure : market_sensitivity(market.view())) {
    EXPECT_EQ(figure.quantity.reason(),
              "too_little_history: 35 months have both price:X and sp500, 36 are needed");
    EXPECT_EQ(figure.period_end, "2022-12-28");
  }
}

TEST(MarketSensitivity, ARegressionThatIsTooOldIsNoMarketData) {
  TestMarket market;
  add_beta_months(market, "2018-12", 35, 0.6);
  for (const Figure& figure : market_sensitivity(market.view())) {
    // Before the reason that there are fewer than 36 months.
    EXPECT_THAT(figure.quantity.reason(),
                StartsWith("no_market_data: price:X can be used to 2018-12"));
    EXPECT_EQ(figure.period_end, "2018-12-28");
  }
}

TEST(MarketSensitivity, WithoutAColumnThereIsNoMarketData) {
  TestMarket market;
  market.add(kIndexSeries, "2022-12", 1000);
  for (const Figure& figure : market_sensitivity(market.view())) {
    EXPECT_EQ(figure.quantity.reason(), "no_market_data: price:X is not in the data");
    EXPECT_EQ(figure.period_end, "2022-09-30");
  }
  EXPECT_EQ(beta_adjusted(market.view()).code(), Missing::no_market_data);
}

TEST(MarketSensitivity, WithoutAnIndexThereIsNoMarketData) {
  TestMarket market;
  market.add(price_series("X"), "2022-12", 10);
  for (const Figure& figure : market_sensitivity(market.view())) {
    EXPECT_EQ(figure.quantity.reason(), "no_market_data: sp500 is not in the data");
    EXPECT_EQ(figure.period_end, "2022-09-30");
  }
}

TEST(MarketSensitivity, WithoutAMonthThatHasBothThereIsTooLittleHistory) {
  TestMarket market;
  market.add(kIndexSeries, "2022-12", 1000);
  market.add(price_series("X"), "2022-12", 10);
  for (const Figure& figure : market_sensitivity(market.view())) {
    EXPECT_EQ(figure.quantity.code(), Missing::too_little_history);
    EXPECT_EQ(figure.period_end, "2022-09-30");
  }
}

TEST(MarketSensitivity, ASeriesWithoutUsableMonthsIsTooLittleHistory) {
  TestMarket market;
  market.add(kIndexSeries, "2022-12", 1000);
  market.add(price_series("X"), "2023-05", 10);  // the company lists later
  for (const Figure& figure : market_sensitivity(market.view())) {
    EXPECT_FALSE(figure.quantity.is_available());
    EXPECT_EQ(figure.quantity.code(), Missing::too_little_history);
    EXPECT_EQ(figure.period_end, "2022-09-30");
  }
}

TEST(MarketSensitivity, AnIndexThatDoesNotMoveIsNonPositive) {
  TestMarket market;
  market.add_run(kIndexSeries, "2022-12", std::vector<double>(41, 1000));
  std::vector<double> prices = {10};
  while (prices.size() < 41) prices.push_back(21 - prices.back());
  market.add_run(price_series("X"), "2022-12", prices);
  const auto figures = market_sensitivity(market.view());

  for (const int i : {0, 1, 2}) {
    EXPECT_EQ(figures[i].quantity.code(), Missing::non_positive) << figures[i].metric;
    EXPECT_FALSE(figures[i].quantity.is_available());
  }
  EXPECT_EQ(figures[3].quantity.value(), 40);
}

TEST(MarketSensitivity, APriceOfZeroIsNonPositiveAndNoNaN) {
  TestMarket market;
  add_beta_months(market, "2022-12", 40, 0.6);
  market.add(price_series("X"), "2022-01", 0);
  const auto figures = market_sensitivity(market.view());

  for (const int i : {0, 1, 2}) {
    EXPECT_EQ(figures[i].quantity.reason(), "non_positive: the result is not finite");
    EXPECT_THAT(input_names(figures[i].quantity), IsEmpty());
  }
}

}  // namespace
}  // namespace belay::research
