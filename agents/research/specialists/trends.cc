#include "agents/research/specialists/trends.h"

#include <cmath>

#include "agents/research/finance/market_figures.h"
#include "agents/research/finance/regression.h"
#include "agents/research/specialists/years_available.h"

namespace belay::research {
namespace {

constexpr int kTrendYears = 10;
constexpr std::size_t kTrendYearsMin = 5;
constexpr int kCycleYears = 9;  // before the last one
constexpr std::size_t kCycleYearsMin = 4;

struct Trend {
  Quantity growth;
  Quantity r_squared;
};

Trend revenue_trend(const Company& company) {
  std::vector<double> time;
  std::vector<double> logarithm;
  Quantity sources = Quantity::of(0);
  for (const YearValue& each : years_available(company, "revenue", 0, kTrendYears)) {
    if (each.quantity.value() <= 0) continue;
    time.push_back(-each.years_ago);
    logarithm.push_back(std::log(each.quantity.value()));
    sources.add_sources(each.quantity);
  }
  if (time.size() < kTrendYearsMin) {
    Quantity few = Quantity::missing(Missing::too_little_history, "revenue of 5 years");
    return {few, few};
  }
  std::optional<Regression> line = least_squares(time, logarithm);
  if (!line) {
    Quantity none = Quantity::missing(Missing::non_positive, "revenue has no trend");
    return {none, none};
  }
  return {calculated_from(std::exp(line->slope) - 1, {&sources}),
          calculated_from(line->r_squared, {&sources})};
}

// Nominal revenue over the consumer prices of the months in which the two years end.
Quantity real_growth(const Company& company, int years) {
  if (company.currency() != "USD") {
    return Quantity::missing(Missing::currency_mismatch,
                             "prices in USD do not deflate " + company.currency());
  }
  std::size_t year = company.last_year();
  Quantity revenue = company.value("revenue", year);
  if (!revenue.is_available()) return revenue;
  MarketView market = company.market();
  Quantity prices = consumer_price_index(market, Month::of(company.year_end(year)));
  if (!prices.is_available()) return prices;
  std::optional<std::size_t> earlier = company.before(year, years);
  if (!earlier) {
    return Quantity::missing(Missing::too_little_history,
                             "revenue[-" + std::to_string(years) + "]");
  }
  Quantity before = company.value("revenue", *earlier);
  if (!before.is_available()) return before;
  Quantity prices_before = consumer_price_index(market, Month::of(company.year_end(*earlier)));
  if (!prices_before.is_available()) return prices_before;
  double ratio = (revenue.value() / prices.value()) / (before.value() / prices_before.value());
  return calculated_from(std::pow(ratio, 1.0 / years) - 1,
                         {&revenue, &prices, &before, &prices_before});
}

// The distance of the last year from the mean of the years before, in standard deviations.
Quantity z_score(const Company& company, std::string_view metric) {
  Quantity now = company.value(metric, company.last_year());
  if (!now.is_available()) return now;
  std::vector<YearValue> before = years_available(company, metric, 1, kCycleYears);
  Quantity sum = sum_of_available(before, kCycleYearsMin, metric);
  if (!sum.is_available()) return sum;
  double count = static_cast<double>(before.size());
  double mean = sum.value() / count;
  double squares = 0;
  for (const YearValue& each : before) {
    squares += (each.quantity.value() - mean) * (each.quantity.value() - mean);
  }
  double deviation = std::sqrt(squares / (count - 1));
  if (!(deviation > 0)) {
    return Quantity::missing(Missing::non_positive, std::string(metric) + " did not vary");
  }
  return calculated_from((now.value() - mean) / deviation, {&now, &sum});
}

}  // namespace

Results measure_growth_stability(const Company& company) {
  SubtaskResults results(company, "growth", "growth_stability");
  Trend trend = revenue_trend(company);
  results.add_latest("revenue_trend_growth", "ratio", trend.growth);
  results.add_latest("revenue_trend_r_squared", "ratio", trend.r_squared);
  return results.take();
}

Results describe_macro_context(const Company& company) {
  return {macro_context(company.market()), {}};
}

Results measure_market_sensitivity(const Company& company) {
  return {market_sensitivity(company.market()), {}};
}

Results measure_real_growth(const Company& company) {
  SubtaskResults results(company, "industry_macro", "real_growth");
  for (int years : {1, 3, 5}) {
    results.add_latest("real_revenue_cagr_" + std::to_string(years) + "y", "ratio",
                       real_growth(company, years));
  }
  return results.take();
}

Results locate_in_cycle(const Company& company) {
  SubtaskResults results(company, "industry_macro", "cycle_position");
  for (std::string_view metric : {"revenue_growth", "operating_margin", "net_margin"}) {
    results.add_latest(std::string(metric) + "_z", "score", z_score(company, metric));
  }
  return results.take();
}

}  // namespace belay::research
