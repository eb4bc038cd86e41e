#pragma once
// agents/research/finance/market_figures.h - figures from market series alone: rates, consumer
// prices, the stock index, beta and shareholder returns. docs/research.md, section 7.

#include <vector>

#include "agents/research/finance/date.h"
#include "agents/research/finance/figure.h"
#include "agents/research/finance/market_view.h"
#include "agents/research/finance/quantity.h"

namespace belay::research {

// industry_macro.macro_context: risk_free_rate, risk_free_rate_change_12m, cpi_inflation_12m,
// sp500_change_12m, cape. period_end is the date of the last usable row of the series, or the as-of
// date if no such row exists.
std::vector<Figure> macro_context(const MarketView& view);

// industry_macro.market_sensitivity: beta_raw, beta_adjusted, beta_r_squared, beta_months.
// Regression of monthly returns on changes of a monthly average (Working 1960), adjusted towards 1
// (Blume 1975). period_end is the date of the last price of the regression, or the fiscal year end
// if it has no months.
std::vector<Figure> market_sensitivity(const MarketView& view);

// The figures tsr_5y, tsr_10y, sp500_tsr_5y, sp500_tsr_10y, tsr_excess_5y and tsr_excess_10y of
// strategy.historical_roi. period_end is the date of the last usable price, or the fiscal year end
// if no price is usable.
std::vector<Figure> shareholder_returns(const MarketView& view);

// The same numbers as in the figures above, for figures that are built on them.
Quantity risk_free_rate(const MarketView& view);
Quantity beta_adjusted(const MarketView& view);

// The consumer price index of a month, whatever its age; no_market_data if the month is not usable.
Quantity consumer_price_index(const MarketView& view, Month month);

}  // namespace belay::research
