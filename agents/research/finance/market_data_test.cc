#include "agents/research/finance/market_data.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace belay::research {
namespace {

MarketRow dated_row(std::string_view date, double value) {
  const Date day = *Date::parse(date);
  return {Month::of(day), day, value};
}

std::vector<double> series_values(const Series& series) {
  std::vector<double> values;
  for (const MarketRow& row : series.rows()) values.push_back(row.value);
  return values;
}

TEST(Series, RowsAreOrderedByMonth) {
  Series series;
  series.merge({dated_row("2022-12-28", 3), dated_row("2022-10-31", 1)});
  series.merge({dated_row("2022-11-30", 2), dated_row("2021-12-31", 0)});

  EXPECT_EQ(series_values(series), (std::vector<double>{0, 1, 2, 3}));
}

TEST(Series, OfTwoRowsOfAMonthTheOneAddedLaterIsKept) {
  Series series;
  series.merge(
      {dated_row("2022-12-28", 1), dated_row("2022-12-05", 2), dated_row("2022-11-30", 3)});
  EXPECT_EQ(series_values(series), (std::vector<double>{3, 2}));

  series.merge({dated_row("2022-12-01", 4)});
  EXPECT_EQ(series_values(series), (std::vector<double>{3, 4}));
  EXPECT_EQ(series.at(*Month::parse("2022-12"))->date.text(), "2022-12-01");
}

TEST(Series, AMonthHasARowOrNone) {
  Series series;
  series.merge({dated_row("2022-10-31", 1), dated_row("2022-12-28", 3)});

  EXPECT_EQ(series.at(*Month::parse("2022-10"))->value, 1);
  EXPECT_EQ(series.at(*Month::parse("2022-11")), nullptr);
  EXPECT_EQ(series.at(*Month::parse("2023-01")), nullptr);
  EXPECT_EQ(Series().at(*Month::parse("2022-10")), nullptr);
}

TEST(Series, TheLastRowUntilAMonthMayBeOfThatMonthOrEarlier) {
  Series series;
  series.merge({dated_row("2022-10-31", 1), dated_row("2022-12-28", 3)});

  EXPECT_EQ(series.last_until(*Month::parse("2022-09")), nullptr);
  EXPECT_EQ(series.last_until(*Month::parse("2022-10"))->value, 1);
  EXPECT_EQ(series.last_until(*Month::parse("2022-11"))->value, 1);
  EXPECT_EQ(series.last_until(*Month::parse("2030-01"))->value, 3);
}

TEST(MarketData, SeriesAreFoundByName) {
  MarketData data;
  data.merge(price_series("AAPL"), {dated_row("2022-12-28", 125)});
  data.merge(kCapeSeries, {});

  ASSERT_NE(data.find("price:AAPL"), nullptr);
  EXPECT_EQ(data.find("price:AAPL")->rows().size(), 1u);
  ASSERT_NE(data.find("shiller:PE10"), nullptr);
  EXPECT_TRUE(data.find("shiller:PE10")->rows().empty());
  EXPECT_EQ(data.find("price:MSFT"), nullptr);
}

}  // namespace
}  // namespace belay::research
