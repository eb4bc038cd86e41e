#include "agents/research/finance/projection.h"

#include <cmath>
#include <string>

namespace belay::research {
namespace {

constexpr double kBasisPoints = 10000;

std::string signed_text(int number) { return (number < 0 ? "" : "+") + std::to_string(number); }

double growth_of_year(const DcfAssumptions& assumptions, int year, const Constants& constants) {
  const double initial = assumptions.initial_growth;
  if (year <= constants.growth_years) return initial;
  const double faded = year - constants.growth_years;
  const double fading_years = constants.horizon_years - constants.growth_years;
  return initial + (assumptions.terminal_growth - initial) * faded / fading_years;
}

std::optional<double> shifted_value(DcfAssumptions assumptions, double wacc,
                                    const Constants& constants) {
  const auto value = value_firm(assumptions, wacc, constants);
  if (!value) return std::nullopt;
  return value->enterprise_value;
}

struct ScenarioShift {
  const char* name;
  double wacc;           // added
  double growth;         // added
  double margin_factor;  // multiplied
};

constexpr std::array kScenarioShifts = {
    ScenarioShift{"bear", 0.01, -0.03, 0.85},
    ScenarioShift{"base", 0, 0, 1},
    ScenarioShift{"bull", -0.005, 0.03, 1.10},
};

}  // namespace

std::vector<ProjectedYear> project(const DcfAssumptions& assumptions, const Constants& constants) {
  std::vector<ProjectedYear> years;
  double revenue_before = assumptions.base_revenue;
  for (int year = 1; year <= constants.horizon_years; ++year) {
    ProjectedYear row;
    row.growth = growth_of_year(assumptions, year, constants);
    row.revenue = revenue_before * (1 + row.growth);
    row.ebit = row.revenue * assumptions.target_operating_margin;
    row.nopat = row.ebit * (1 - assumptions.model_tax_rate);
    row.reinvestment = (row.revenue - revenue_before) / assumptions.sales_to_capital;
    row.fcff = row.nopat - row.reinvestment;
    years.push_back(row);
    revenue_before = row.revenue;
  }
  return years;
}

std::optional<FirmValue> value_firm(const DcfAssumptions& assumptions, double wacc,
                                    const Constants& constants) {
  const double growth = assumptions.terminal_growth;
  // Negated, so that a NaN fails.
  if (!(wacc - growth >= constants.min_wacc_minus_growth)) return std::nullopt;

  FirmValue value;
  double last_revenue = assumptions.base_revenue;
  int year = 0;
  for (const ProjectedYear& row : project(assumptions, constants)) {
    ++year;
    value.pv_explicit += row.fcff / std::pow(1 + wacc, year);
    last_revenue = row.revenue;
  }
  const double revenue = last_revenue * (1 + growth);
  const double nopat =
      revenue * assumptions.target_operating_margin * (1 - assumptions.model_tax_rate);
  value.terminal_fcff = nopat - (revenue - last_revenue) / assumptions.sales_to_capital;
  value.terminal_value = value.terminal_fcff / (wacc - growth);
  value.terminal_value_convergence = nopat / wacc;
  value.pv_terminal = value.terminal_value / std::pow(1 + wacc, year);
  value.enterprise_value = value.pv_explicit + value.pv_terminal;
  return value;
}

std::vector<SensitivityCell> sensitivity_cells(const DcfAssumptions& assumptions, double wacc,
                                               const Constants& constants) {
  std::vector<SensitivityCell> cells;
  for (const int wacc_shift : kWaccShifts) {
    for (const int growth_shift : kGrowthShifts) {
      DcfAssumptions shifted = assumptions;
      shifted.terminal_growth += growth_shift / kBasisPoints;
      cells.push_back({"w" + signed_text(wacc_shift) + "_g" + signed_text(growth_shift),
                       shifted_value(shifted, wacc + wacc_shift / kBasisPoints, constants)});
    }
  }
  return cells;
}

std::vector<ScenarioValue> scenario_values(const DcfAssumptions& assumptions, double wacc,
                                           const Constants& constants) {
  std::vector<ScenarioValue> values;
  for (const ScenarioShift& shift : kScenarioShifts) {
    DcfAssumptions shifted = assumptions;
    shifted.initial_growth += shift.growth;
    shifted.target_operating_margin *= shift.margin_factor;
    values.push_back({shift.name, shifted_value(shifted, wacc + shift.wacc, constants)});
  }
  return values;
}

std::optional<double> justified_price_to_book(double return_on_equity, double cost_of_equity,
                                              double terminal_growth, const Constants& constants) {
  const double denominator = cost_of_equity - terminal_growth;
  if (!(denominator >= constants.min_wacc_minus_growth)) return std::nullopt;
  return (return_on_equity - terminal_growth) / denominator;
}

}  // namespace belay::research
