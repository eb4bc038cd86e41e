#include "agents/research/finance/market_view.h"

#include <utility>

namespace belay::research {
namespace {

Quantity no_market_data(std::string_view series, const std::string& problem) {
  return Quantity::missing(Missing::no_market_data, std::string(series) + " " + problem);
}

}  // namespace

Inputs market_input(std::string_view series, const MarketRow& row) {
  return Inputs(
      Input{.concept_name = std::string(series), .end = row.date.text(), .value = row.value});
}

const MarketRow* MarketView::last_row(std::string_view series) const {
  const Series* rows = data.find(series);
  return rows == nullptr ? nullptr : rows->last_until(last_usable_month());
}

Quantity MarketView::value(std::string_view series, Month month) const {
  const Series* rows = data.find(series);
  if (rows == nullptr) return no_market_data(series, "is not in the data");
  const MarketRow* row = month <= last_usable_month() ? rows->at(month) : nullptr;
  if (row == nullptr) return no_market_data(series, "has no usable value of " + month.text());
  return Quantity::of(row->value, market_input(series, *row));
}

Quantity MarketView::latest_value(std::string_view series) const {
  const MarketRow* last = last_row(series);
  if (auto reason = problem(series, last)) return *std::move(reason);
  return Quantity::of(last->value, market_input(series, *last));
}

std::optional<Quantity> MarketView::problem(std::string_view series, const MarketRow* last) const {
  if (data.find(series) == nullptr) return no_market_data(series, "is not in the data");
  if (last == nullptr) {
    return no_market_data(series, "has no value until " + last_usable_month().text());
  }
  const int age = Month::of(as_of) - last->month;
  if (age > constants.market_data_max_age_months) {
    return no_market_data(series, "can be used to " + last->month.text() + " only, " +
                                      std::to_string(age) + " months before the as-of month");
  }
  return std::nullopt;
}

}  // namespace belay::research
