#include "agents/research/finance/market_figures.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "agents/research/finance/regression.h"

namespace belay::research {
namespace {

constexpr int kMonthsPerYear = 12;
constexpr double kPercent = 100;

// Not finite unless `before` is positive: a level or a price of 0 or less has no meaning.
double growth_factor(double now, double before) {
  return before > 0 ? now / before : std::numeric_limits<double>::quiet_NaN();
}

// ---- macro_context

// Returns `calculate(latest value, value 12 months earlier)` of a series.
template <class Calculation>
Quantity over_12m(const MarketView& view, std::string_view series, Calculation calculate) {
  Quantity latest = view.latest_value(series);
  if (!latest.is_available()) return latest;
  const Month month = view.last_row(series)->month;
  Quantity earlier = view.value(series, month.minus(kMonthsPerYear));
  if (!earlier.is_available()) return earlier;
  return calculated_from(calculate(latest.value(), earlier.value()), {&latest, &earlier});
}

Quantity relative_change_12m(const MarketView& view, std::string_view series) {
  return over_12m(view, series,
                  [](double latest, double earlier) { return growth_factor(latest, earlier) - 1; });
}

Quantity rate_change_12m(const MarketView& view) {
  return over_12m(view, kTreasurySeries, [](double latest, double earlier) {
    return latest / kPercent - earlier / kPercent;
  });
}

Figure macro_figure(const MarketView& view, std::string_view series, const char* metric,
                    Quantity quantity) {
  const MarketRow* last = view.last_row(series);
  const Date period_end = last == nullptr ? view.as_of : last->date;
  return Figure{.specialist = "industry_macro",
                .subtask = "macro_context",
                .metric = metric,
                .period_end = period_end.text(),
                .unit = "ratio",
                .quantity = std::move(quantity)};
}

// ---- market_sensitivity

// The months of the regression.
struct BetaSample {
  std::vector<double> returns;        // of the price; newest month first
  std::vector<double> index_changes;  // likewise
  // Rows at both ends: of the newest month, and of the month before the oldest. Null without
  // months.
  const MarketRow* last_price = nullptr;
  const MarketRow* last_index = nullptr;
  const MarketRow* first_price = nullptr;
  const MarketRow* first_index = nullptr;
};

// Both series need a row of the month and of the month before. Months without are passed over.
BetaSample beta_sample(const MarketView& view, const Series& prices, const Series& index) {
  BetaSample sample;
  const std::vector<MarketRow>& rows = prices.rows();
  const auto months_max = static_cast<std::size_t>(view.constants.beta_months);
  for (std::size_t i = rows.size(); i-- > 1 && sample.returns.size() < months_max;) {
    const MarketRow& price = rows[i];
    const MarketRow& price_before = rows[i - 1];
    if (price.month > view.last_usable_month()) continue;
    if (price.month - price_before.month != 1) continue;
    const MarketRow* level = index.at(price.month);
    const MarketRow* level_before = index.at(price_before.month);
    if (level == nullptr || level_before == nullptr) continue;
    sample.returns.push_back(growth_factor(price.value, price_before.value) - 1);
    sample.index_changes.push_back(growth_factor(level->value, level_before->value) - 1);
    if (sample.last_price == nullptr) {
      sample.last_price = &price;
      sample.last_index = level;
    }
    sample.first_price = &price_before;
    sample.first_index = level_before;
  }
  return sample;
}

struct Sensitivity {
  Date period_end;
  std::optional<Quantity> failure = {};  // the reason for all figures
  Quantity beta_raw = {};
  Quantity r_squared = {};
  Quantity months = {};
};

void run_regression(const MarketView& view, const BetaSample& sample, const Inputs& inputs,
                    Sensitivity& result) {
  result.months = Quantity::of(static_cast<double>(sample.returns.size()), inputs);
  const auto line = least_squares(sample.index_changes, sample.returns);
  if (!line) {
    result.r_squared =
        Quantity::missing(Missing::non_positive, "the variance of the changes of sp500 is 0");
    result.beta_raw = result.r_squared;
    return;
  }
  result.r_squared = Quantity::of(line->r_squared, inputs);
  result.beta_raw = Quantity::of(view.constants.beta_time_average_factor * line->slope, inputs);
  if (!result.beta_raw.is_available()) return;
  result.beta_raw.add_inputs(view.constants.source("beta_time_average_factor"));
}

Sensitivity sensitivity_of(const MarketView& view) {
  Sensitivity result{.period_end = view.fiscal_year_end};
  const std::string price_name = price_series(view.ticker);
  // The series as such; their age is that of the regression's last month, and a series without
  // usable months has too few.
  for (const std::string_view series : {std::string_view(price_name), kIndexSeries}) {
    if (view.data.find(series) == nullptr) result.failure = view.problem(series, nullptr);
    if (result.failure) return result;
  }
  const BetaSample sample =
      beta_sample(view, *view.data.find(price_name), *view.data.find(kIndexSeries));
  if (sample.last_price != nullptr) {
    result.period_end = sample.last_price->date;
    result.failure = view.problem(price_name, sample.last_price);
    if (result.failure) return result;
  }
  const int months_min = view.constants.beta_min_months;
  if (sample.returns.size() < static_cast<std::size_t>(months_min)) {
    result.failure = Quantity::missing(
        Missing::too_little_history, std::to_string(sample.returns.size()) + " months have both " +
                                         price_name + " and " + std::string(kIndexSeries) + ", " +
                                         std::to_string(months_min) + " are needed");
    return result;
  }
  Inputs inputs = market_input(price_name, *sample.first_price);
  inputs.add(market_input(price_name, *sample.last_price));
  inputs.add(market_input(kIndexSeries, *sample.first_index));
  inputs.add(market_input(kIndexSeries, *sample.last_index));
  run_regression(view, sample, inputs, result);
  return result;
}

Quantity adjusted_beta(const MarketView& view, const Quantity& beta_raw) {
  if (!beta_raw.is_available()) return beta_raw;
  const double weight = view.constants.blume_weight;
  Quantity adjusted = Quantity::of(weight * beta_raw.value() + (1 - weight), beta_raw.inputs());
  if (adjusted.is_available()) adjusted.add_inputs(view.constants.source("blume_weight"));
  return adjusted;
}

// ---- historical_roi

// The month from which the years up to the last price are counted.
Month opening_month(const MarketRow& last_price, int years) {
  return last_price.month.minus(kMonthsPerYear * years);
}

Quantity price_return(const MarketView& view, const std::string& price_name, int years) {
  Quantity last = view.latest_value(price_name);
  if (!last.is_available()) return last;
  const Month opening = opening_month(*view.last_row(price_name), years);
  Quantity first = view.value(price_name, opening);
  if (!first.is_available()) return first;
  const double growth = growth_factor(last.value(), first.value());
  return calculated_from(std::pow(growth, 1.0 / years) - 1, {&last, &first});
}

// The return of the index with dividends over the same months as price_return().
Quantity index_return(const MarketView& view, const std::string& price_name, int years) {
  const MarketRow* last_price = view.last_row(price_name);
  if (auto reason = view.problem(price_name, last_price)) return *std::move(reason);
  const Month opening = opening_month(*last_price, years);
  Quantity level_before = view.value(kIndexSeries, opening);
  if (!level_before.is_available()) return level_before;
  Inputs inputs = level_before.inputs();
  double product = 1;
  for (Month month = opening.plus(1); month <= last_price->month; month = month.plus(1)) {
    Quantity level = view.value(kIndexSeries, month);
    if (!level.is_available()) return level;
    const Quantity dividend = view.value(kDividendSeries, month);
    if (!dividend.is_available()) return dividend;
    product *=
        growth_factor(level.value() + dividend.value() / kMonthsPerYear, level_before.value());
    if (month == opening.plus(1) || month == last_price->month) inputs.add(dividend.inputs());
    if (month == last_price->month) inputs.add(level.inputs());
    level_before = std::move(level);
  }
  return Quantity::of(std::pow(product, 1.0 / years) - 1, std::move(inputs));
}

Quantity excess_return(const Quantity& first, const Quantity& second) {
  if (!first.is_available()) return first;
  if (!second.is_available()) return second;
  return calculated_from(first.value() - second.value(), {&first, &second});
}

}  // namespace

Quantity risk_free_rate(const MarketView& view) {
  Quantity rate = view.latest_value(kTreasurySeries);
  if (!rate.is_available()) return rate;
  return Quantity::of(rate.value() / kPercent, rate.inputs());
}

Quantity consumer_price_index(const MarketView& view, Month month) {
  return view.value(kConsumerPriceSeries, month);
}

Quantity beta_adjusted(const MarketView& view) {
  const Sensitivity sensitivity = sensitivity_of(view);
  if (sensitivity.failure) return *sensitivity.failure;
  return adjusted_beta(view, sensitivity.beta_raw);
}

std::vector<Figure> macro_context(const MarketView& view) {
  return {
      macro_figure(view, kTreasurySeries, "risk_free_rate", risk_free_rate(view)),
      macro_figure(view, kTreasurySeries, "risk_free_rate_change_12m", rate_change_12m(view)),
      macro_figure(view, kConsumerPriceSeries, "cpi_inflation_12m",
                   relative_change_12m(view, kConsumerPriceSeries)),
      macro_figure(view, kIndexSeries, "sp500_change_12m", relative_change_12m(view, kIndexSeries)),
      macro_figure(view, kCapeSeries, "cape", view.latest_value(kCapeSeries)),
  };
}

std::vector<Figure> market_sensitivity(const MarketView& view) {
  const Sensitivity sensitivity = sensitivity_of(view);
  const std::string period_end = sensitivity.period_end.text();
  const auto figure = [&](const char* metric, const char* unit, const Quantity& quantity) {
    return Figure{.specialist = "industry_macro",
                  .subtask = "market_sensitivity",
                  .metric = metric,
                  .period_end = period_end,
                  .unit = unit,
                  .quantity = sensitivity.failure ? *sensitivity.failure : quantity};
  };
  return {
      figure("beta_raw", "ratio", sensitivity.beta_raw),
      figure("beta_adjusted", "ratio", adjusted_beta(view, sensitivity.beta_raw)),
      figure("beta_r_squared", "ratio", sensitivity.r_squared),
      figure("beta_months", "count", sensitivity.months),
  };
}

std::vector<Figure> shareholder_returns(const MarketView& view) {
  const std::string price_name = price_series(view.ticker);
  const MarketRow* last = view.last_row(price_name);
  const Date period_end = last == nullptr ? view.fiscal_year_end : last->date;
  std::vector<Figure> figures;
  const auto add = [&](const std::string& metric, int years, const Quantity& quantity) {
    figures.push_back(Figure{.specialist = "strategy",
                             .subtask = "historical_roi",
                             .metric = metric + "_" + std::to_string(years) + "y",
                             .period_end = period_end.text(),
                             .unit = "ratio",
                             .quantity = quantity});
  };
  for (const int years : {5, 10}) {
    const Quantity stock = price_return(view, price_name, years);
    const Quantity index = index_return(view, price_name, years);
    add("tsr", years, stock);
    add("sp500_tsr", years, index);
    add("tsr_excess", years, excess_return(stock, index));
  }
  return figures;
}

}  // namespace belay::research
