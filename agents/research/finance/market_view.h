#pragma once
// agents/research/finance/market_view.h - the part of the market data that an analysis may use.
//
// Months count up to the one before the as-of date's: most series are monthly averages, which are
// unknown before the month ends. docs/research.md, section 7.

#include <optional>
#include <string>
#include <string_view>

#include "agents/research/finance/constants.h"
#include "agents/research/finance/date.h"
#include "agents/research/finance/market_data.h"
#include "agents/research/finance/quantity.h"

namespace belay::research {

// The subject of market figures. The references must outlive it.
struct MarketView {
  const MarketData& data;
  const Constants& constants;
  Date as_of;
  std::string ticker;    // "AAPL"
  Date fiscal_year_end;  // the latest

  // The newest month that counts.
  Month last_usable_month() const { return Month::of(as_of).minus(1); }

  // The newest usable row of a series, whatever its age, or null.
  const MarketRow* last_row(std::string_view series) const;

  // The value of a series in a month, whatever its age, with its row as the input; no_market_data
  // if the month is not usable.
  Quantity value(std::string_view series, Month month) const;

  // The value of last_row(); no_market_data without such a row or if it is too old.
  Quantity latest_value(std::string_view series) const;

  // The reason if there is no usable row, or the newest one that a figure uses, `last`, is too old.
  // Empty if `last` can be used. `last` may be null.
  std::optional<Quantity> problem(std::string_view series, const MarketRow* last) const;
};

// A row as the input of a figure.
Inputs market_input(std::string_view series, const MarketRow& row);

}  // namespace belay::research
