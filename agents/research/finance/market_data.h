#pragma once
// agents/research/finance/market_data.h - monthly market series.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/finance/date.h"

namespace belay::research {

// Names of series, as figures name them in their inputs.
inline constexpr std::string_view kTreasurySeries = "treasury_10y";  // percent per year
inline constexpr std::string_view kIndexSeries = "sp500";
inline constexpr std::string_view kDividendSeries = "shiller:Dividend";  // per year
inline constexpr std::string_view kConsumerPriceSeries = "shiller:Consumer Price Index";
inline constexpr std::string_view kCapeSeries = "shiller:PE10";

// Returns "price:AAPL": the adjusted closes of a ticker.
std::string price_series(std::string_view ticker);

struct MarketRow {
  Month month;
  Date date;  // of the row in its file
  double value = 0;
};

// A row per month that has a known value.
class Series {
 public:
  // Adds rows, which may have any order. Of rows with the same month the last one replaces the
  // others and the present one.
  void merge(std::vector<MarketRow> rows);

  // Null if the month has no value. Pointers are valid until the next merge().
  const MarketRow* at(Month month) const;
  // Returns the newest row that is not later than `month`, or null.
  const MarketRow* last_until(Month month) const;

  const std::vector<MarketRow>& rows() const { return rows_; }  // by ascending months

 private:
  std::vector<MarketRow> rows_;
};

class MarketData {
 public:
  // Adds rows to the series of that name, as Series::merge() does. A series without rows exists.
  void merge(std::string_view name, std::vector<MarketRow> rows);

  // Null if there is no such series.
  const Series* find(std::string_view name) const;

  const std::map<std::string, Series, std::less<>>& all() const { return series_; }

 private:
  std::map<std::string, Series, std::less<>> series_;
};

}  // namespace belay::research
