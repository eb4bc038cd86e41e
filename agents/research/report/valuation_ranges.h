#pragma once
// agents/research/report/valuation_ranges.h - the football field and the sensitivity table.

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/report/figure_index.h"

namespace belay::research::report {

// A value per share and the name of its anchor.
struct RangePoint {
  double value = 0;
  std::string anchor;
};

// One bar of the football field; without a width if only one value is available.
struct ValueRange {
  std::string label;
  RangePoint low;
  RangePoint high;
  std::optional<RangePoint> base;
};

// The only number that the report computes. It is drawn and explained, but it is not a figure.
struct ConvergenceValue {
  double value = 0;
  std::vector<FigureNumber> operands;

  static constexpr std::string_view kAnchor = "d0";
  static constexpr std::string_view kFormula =
      "value_per_share × (equity_value − pv_terminal + terminal_value_convergence × pv_terminal / "
      "terminal_value) / equity_value";
};

struct FootballField {
  std::vector<ValueRange> ranges;  // empty: no value per share is available
  std::optional<ConvergenceValue> convergence;
  std::string unit;  // "USD/shares"
};
FootballField football_field_of(const FigureIndex& index);

// Basis points that are added to the discount rate and to terminal growth.
inline constexpr std::array<std::string_view, 5> kRateSteps = {"-100", "-50", "+0", "+50", "+100"};
inline constexpr std::array<std::string_view, 5> kGrowthSteps = {"-50", "-25", "+0", "+25", "+50"};

struct HeatCell {
  std::optional<FigureNumber> figure;
  std::optional<int> level;  // 0 (least) to 6 (greatest); empty: not available
};

// A table of 25 cells: rows of rate steps, columns of growth steps.
struct HeatMap {
  std::string metric;  // "sens_value_per_share"
  std::string unit;
  std::array<std::array<HeatCell, 5>, 5> cells;
  bool has_values = false;
};
// Returns nothing if the analysis has none of the 25 figures.
std::optional<HeatMap> heat_map_of(const FigureIndex& index, std::string_view metric);

// Returns "sens_ev_w-100_g+25".
std::string sensitivity_metric(std::string_view metric, std::string_view rate_step,
                               std::string_view growth_step);

}  // namespace belay::research::report
