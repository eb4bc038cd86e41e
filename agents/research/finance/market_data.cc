#include "agents/research/finance/market_data.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

namespace belay::research {

std::string price_series(std::string_view ticker) { return "price:" + std::string(ticker); }

void Series::merge(std::vector<MarketRow> rows) {
  rows.insert(rows.begin(), rows_.begin(), rows_.end());
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&rows](std::size_t a, std::size_t b) {
    return std::tie(rows[a].month, a) < std::tie(rows[b].month, b);
  });
  rows_.clear();
  for (const std::size_t index : order) {
    const MarketRow& row = rows[index];
    if (!rows_.empty() && rows_.back().month == row.month) {
      rows_.back() = row;
    } else {
      rows_.push_back(row);
    }
  }
}

const MarketRow* Series::at(Month month) const {
  const MarketRow* row = last_until(month);
  return row != nullptr && row->month == month ? row : nullptr;
}

const MarketRow* Series::last_until(Month month) const {
  const auto later =
      std::upper_bound(rows_.begin(), rows_.end(), month,
                       [](Month limit, const MarketRow& row) { return limit < row.month; });
  return later == rows_.begin() ? nullptr : &*std::prev(later);
}

void MarketData::merge(std::string_view name, std::vector<MarketRow> rows) {
  series_[std::string(name)].merge(std::move(rows));
}

const Series* MarketData::find(std::string_view name) const {
  const auto found = series_.find(name);
  return found == series_.end() ? nullptr : &found->second;
}

}  // namespace belay::research
