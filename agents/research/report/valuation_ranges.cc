#include "agents/research/report/valuation_ranges.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace belay::research::report {
namespace {

constexpr std::string_view kValuationName = "valuation";
constexpr std::string_view kPerShare = "sens_value_per_share";
constexpr int kGreatestLevel = 6;

std::optional<RangePoint> point_of(const FigureIndex& index, std::string_view metric) {
  const auto number = index.latest(kValuationName, metric);
  if (!number || !index.figure(*number).quantity.is_available()) return std::nullopt;
  return RangePoint{index.figure(*number).quantity.value(), FigureIndex::anchor(*number)};
}

void add_range(FootballField& field, std::string label, std::vector<RangePoint> points,
               std::optional<RangePoint> base) {
  if (points.empty()) return;
  const auto [low, high] = std::minmax_element(
      points.begin(), points.end(),
      [](const RangePoint& a, const RangePoint& b) { return a.value < b.value; });
  field.ranges.push_back({std::move(label), *low, *high, std::move(base)});
}

std::vector<RangePoint> points_of(const FigureIndex& index,
                                  const std::vector<std::string>& metrics) {
  std::vector<RangePoint> points;
  for (const std::string& metric : metrics) {
    if (auto point = point_of(index, metric)) points.push_back(std::move(*point));
  }
  return points;
}

std::optional<ConvergenceValue> convergence_of(const FigureIndex& index) {
  std::vector<FigureNumber> operands;
  std::vector<double> values;
  for (const std::string_view metric : {"value_per_share", "equity_value", "pv_terminal",
                                        "terminal_value_convergence", "terminal_value"}) {
    const auto number = index.latest(kValuationName, metric);
    if (!number || !index.figure(*number).quantity.is_available()) return std::nullopt;
    operands.push_back(*number);
    values.push_back(index.figure(*number).quantity.value());
  }
  const double equity = values[1];
  const double value =
      values[0] * (equity - values[2] + values[3] * values[2] / values[4]) / equity;
  if (!std::isfinite(value)) return std::nullopt;
  return ConvergenceValue{value, std::move(operands)};
}

}  // namespace

FootballField football_field_of(const FigureIndex& index) {
  FootballField field;
  const auto base = point_of(index, "value_per_share");
  if (const auto number = index.latest(kValuationName, "value_per_share")) {
    field.unit = index.figure(*number).unit;
  }
  add_range(field, "Scenarios: low, base, high case",
            points_of(index, {"scenario_value_per_share_bear", "scenario_value_per_share_base",
                              "scenario_value_per_share_bull"}),
            point_of(index, "scenario_value_per_share_base"));
  std::vector<std::string> by_rate;
  std::vector<std::string> by_growth;
  std::vector<std::string> all;
  for (const std::string_view rate : kRateSteps) {
    by_rate.push_back(sensitivity_metric(kPerShare, rate, "+0"));
    for (const std::string_view growth : kGrowthSteps) {
      all.push_back(sensitivity_metric(kPerShare, rate, growth));
    }
  }
  for (const std::string_view growth : kGrowthSteps) {
    by_growth.push_back(sensitivity_metric(kPerShare, "+0", growth));
  }
  add_range(field, "Discount rate ±1 point", points_of(index, by_rate), base);
  add_range(field, "Terminal growth ±0.5 points", points_of(index, by_growth), base);
  add_range(field, "All 25 combinations", points_of(index, all), base);
  field.convergence = convergence_of(index);
  if (field.convergence && base) {
    const RangePoint converged{field.convergence->value, std::string(ConvergenceValue::kAnchor)};
    add_range(field, "Terminal value: convergence or growth", {converged, *base}, base);
  }
  return field;
}

std::optional<HeatMap> heat_map_of(const FigureIndex& index, std::string_view metric) {
  HeatMap map;
  map.metric = metric;
  std::vector<double> values;
  bool has_figures = false;
  for (std::size_t row = 0; row < kRateSteps.size(); ++row) {
    for (std::size_t column = 0; column < kGrowthSteps.size(); ++column) {
      const std::string name = sensitivity_metric(metric, kRateSteps[row], kGrowthSteps[column]);
      const auto number = index.latest(kValuationName, name);
      map.cells[row][column].figure = number;
      if (!number) continue;
      has_figures = true;
      map.unit = index.figure(*number).unit;
      const Quantity& quantity = index.figure(*number).quantity;
      if (quantity.is_available()) values.push_back(quantity.value());
    }
  }
  if (!has_figures) return std::nullopt;
  if (values.empty()) return map;
  map.has_values = true;
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  const double width = *greatest / 2 - *least / 2;  // halves: the difference may overflow
  for (auto& row : map.cells) {
    for (HeatCell& cell : row) {
      if (!cell.figure || !index.figure(*cell.figure).quantity.is_available()) continue;
      const double value = index.figure(*cell.figure).quantity.value();
      const double share = width > 0 ? (value / 2 - *least / 2) / width : 0.5;
      cell.level = static_cast<int>(std::lround(share * kGreatestLevel));
    }
  }
  return map;
}

std::string sensitivity_metric(std::string_view metric, std::string_view rate_step,
                               std::string_view growth_step) {
  std::string name(metric);
  name += "_w";
  name += rate_step;
  name += "_g";
  name += growth_step;
  return name;
}

}  // namespace belay::research::report
