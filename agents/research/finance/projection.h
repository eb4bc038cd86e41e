#pragma once
// agents/research/finance/projection.h - the arithmetic of a discounted cash flow: free cash flow
// to the firm with sales-to-capital reinvestment (Damodaran, Investment Valuation, 3rd ed., ch. 12
// and 15), a terminal value by constant growth (Gordon 1962), sensitivities and scenarios.
//
// docs/research.md, 6.3. Currency amounts are in units, rates are per year (0.08, not 8 %). A
// number that cannot be calculated is not finite. Pure functions.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "agents/research/finance/constants.h"

namespace belay::research {

struct DcfAssumptions {
  double base_revenue = 0;             // currency; of the base year
  double initial_growth = 0;           // until the growth begins to fade
  double terminal_growth = 0;          // after the last year
  double target_operating_margin = 0;  // of every year
  double model_tax_rate = 0;
  double sales_to_capital = 0;  // revenue per unit of capital
};

struct ProjectedYear {
  double growth = 0;
  double revenue = 0;  // currency, likewise all that follow
  double ebit = 0;
  double nopat = 0;
  double reinvestment = 0;
  double fcff = 0;  // free cash flow to the firm
};

// Returns years 1 to `constants.horizon_years`; the base year is year 0. Growth is constant for
// `constants.growth_years` and then moves in equal steps to the terminal growth, which the last
// year has.
std::vector<ProjectedYear> project(const DcfAssumptions& assumptions, const Constants& constants);

struct FirmValue {
  double terminal_fcff = 0;               // of the year after the last
  double terminal_value = 0;              // at the end of the last year
  double terminal_value_convergence = 0;  // if new investments earn the cost of capital only
  double pv_explicit = 0;                 // of the projected years, at the base year's end
  double pv_terminal = 0;
  double enterprise_value = 0;
};

// Empty if wacc - terminal growth is less than `constants.min_wacc_minus_growth`.
std::optional<FirmValue> value_firm(const DcfAssumptions& assumptions, double wacc,
                                    const Constants& constants);

struct SensitivityCell {
  std::string name;  // "w-100_g+25": shifts of wacc and terminal growth in basis points
  std::optional<double> enterprise_value;  // empty as in value_firm()
};

inline constexpr std::array kWaccShifts = {-100, -50, 0, 50, 100};  // basis points
inline constexpr std::array kGrowthShifts = {-50, -25, 0, 25, 50};  // basis points

// Returns 25 cells, by ascending shift of wacc, then of growth.
std::vector<SensitivityCell> sensitivity_cells(const DcfAssumptions& assumptions, double wacc,
                                               const Constants& constants);

struct ScenarioValue {
  std::string name;                        // "bear", "base", "bull"
  std::optional<double> enterprise_value;  // empty as in value_firm()
};

// Returns the scenarios in the order of the names above. Shifted assumptions are not clipped.
std::vector<ScenarioValue> scenario_values(const DcfAssumptions& assumptions, double wacc,
                                           const Constants& constants);

// Returns (return on equity - g) / (cost of equity - g): the price that justifies a bank's return,
// in book values. Empty if the denominator is less than `constants.min_wacc_minus_growth`.
std::optional<double> justified_price_to_book(double return_on_equity, double cost_of_equity,
                                              double terminal_growth, const Constants& constants);

}  // namespace belay::research
