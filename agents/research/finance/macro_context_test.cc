#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/research/finance/market_figures.h"
#include "agents/research/finance/market_fixture.h"

namespace belay::research {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::StartsWith;

TEST(MacroContext, HasFiveFiguresEvenWithoutMarketData) {
  const TestMarket market;
  const auto figures = macro_context(market.view());

  EXPECT_THAT(metric_names(figures), ElementsAre("risk_free_rate", "risk_free_rate_change_12m",
                                                 "cpi_inflation_12m", "sp500_change_12m", "cape"));
  for (const Figure& figure : figures) {
    EXPECT_EQ(figure.specialist, "industry_macro");
    EXPECT_EQ(figure.subtask, "macro_context");
    EXPECT_EQ(figure.period_end, "2023-01-15");
    EXPECT_EQ(figure.unit, "ratio");
    EXPECT_THAT(figure.quantity.reason(), StartsWith("no_market_data: "));
  }
}

TEST(MacroContext, TheRiskFreeRateIsTheLastRateBeforeTheMonthOfTheAsOfDate) {
  TestMarket market;
  market.add_run(kTreasurySeries, "2023-02", {3.5, 3.6, 9, 9});
  for (const char* day : {"2023-01-01", "2023-01-31"}) {
    market.as_of = day;
    const Figure figure = figure_named(macro_context(market.view()), "risk_free_rate");
    EXPECT_DOUBLE_EQ(figure.quantity.value(), 0.036);
    EXPECT_EQ(figure.period_end, "2022-12-01");
    EXPECT_THAT(input_names(figure.quantity), ElementsAre("treasury_10y 2022-12-01"));
    EXPECT_EQ(figure.quantity.inputs().all()[0]->value, 3.6);
  }
  EXPECT_DOUBLE_EQ(risk_free_rate(market.view()).value(), 0.036);
}

TEST(MacroContext, ChangesAreAgainstTheSameMonthOfTheYearBefore) {
  TestMarket market;
  market.add(kTreasurySeries, "2022-12", 3.6);
  market.add(kTreasurySeries, "2021-12", 1.5);
  market.add(kConsumerPriceSeries, "2022-11", 300);
  market.add(kConsumerPriceSeries, "2021-11", 240);
  market.add(kIndexSeries, "2022-12", 3000);
  market.add(kIndexSeries, "2021-12", 4000);
  market.add(kCapeSeries, "2022-10", 27.5);
  const auto figures = macro_context(market.view());

  const Figure rate = figure_named(figures, "risk_free_rate_change_12m");
  EXPECT_THAT(rate.quantity.value(), DoubleNear(0.021, 1e-15));
  EXPECT_THAT(input_names(rate.quantity),
              ElementsAre("treasury_10y 2021-12-01", "treasury_10y 2022-12-01"));
  const Figure inflation = figure_named(figures, "cpi_inflation_12m");
  EXPECT_DOUBLE_EQ(inflation.quantity.value(), 0.25);
  EXPECT_EQ(inflation.period_end, "2022-11-01");
  EXPECT_THAT(input_names(inflation.quantity),
              ElementsAre("shiller:Consumer Price Index 2021-11-01",
                          "shiller:Consumer Price Index 2022-11-01"));
  EXPECT_DOUBLE_EQ(figure_named(figures, "sp500_change_12m").quantity.value(), -0.25);
  const Figure cape = figure_named(figures, "cape");
  EXPECT_EQ(cape.quantity.value(), 27.5);
  EXPECT_EQ(cape.period_end, "2022-10-01");
}

TEST(MacroContext, AMissingMonthOfTheYearBeforeIsNoMarketData) {
  TestMarket market;
  market.add(kIndexSeries, "2022-12", 3000);
  market.add(kIndexSeries, "2021-11", 4000);
  const Figure figure = figure_named(macro_context(market.view()), "sp500_change_12m");

  EXPECT_EQ(figure.quantity.reason(), "no_market_data: sp500 has no usable value of 2021-12");
  EXPECT_EQ(figure.period_end, "2022-12-01");
}

TEST(MacroContext, ASeriesMayBe48MonthsOldButNot49) {
  TestMarket market;
  market.add(kCapeSeries, "2019-01", 20);
  EXPECT_TRUE(figure_named(macro_context(market.view()), "cape").quantity.is_available());

  market.as_of = "2023-02-01";
  const Figure figure = figure_named(macro_context(market.view()), "cape");
  EXPECT_EQ(figure.quantity.code(), Missing::no_market_data);
  EXPECT_FALSE(figure.quantity.is_available());
  EXPECT_EQ(figure.period_end, "2019-01-01");

  ASSERT_EQ(market.constants.set("market_data_max_age_months", 49), std::nullopt);
  EXPECT_TRUE(figure_named(macro_context(market.view()), "cape").quantity.is_available());
}

TEST(MacroContext, ADivisionByZeroIsNonPositive) {
  TestMarket market;
  market.add(kIndexSeries, "2022-12", 3000);
  market.add(kIndexSeries, "2021-12", 0);
  const Figure figure = figure_named(macro_context(market.view()), "sp500_change_12m");

  EXPECT_FALSE(figure.quantity.is_available());
  EXPECT_EQ(figure.quantity.code(), Missing::non_positive);
}

TEST(ConsumerPriceIndex, AMonthCanBeOfAnyAgeButMustBeUsable) {
  TestMarket market;
  market.add(kConsumerPriceSeries, "1990-09", 130);
  market.add(kConsumerPriceSeries, "2023-01", 300);

  const Quantity old = consumer_price_index(market.view(), *Month::parse("1990-09"));
  EXPECT_EQ(old.value(), 130);
  EXPECT_THAT(input_names(old), ElementsAre("shiller:Consumer Price Index 1990-09-01"));
  for (const char* month : {"1990-10", "2023-01"}) {
    const Quantity quantity = consumer_price_index(market.view(), *Month::parse(month));
    EXPECT_FALSE(quantity.is_available()) << month;
    EXPECT_EQ(quantity.code(), Missing::no_market_data) << month;
  }
}

}  // namespace
}  // namespace belay::research
