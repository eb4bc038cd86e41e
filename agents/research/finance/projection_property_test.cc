// The discounted cash flow: closed forms, a direct computation, units, and monotony.

#include "agents/research/finance/projection.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace belay::research {
namespace {

struct FirmPlan {
  int revenue = 100;  // millions
  int growth = 0;     // per mille, like all that follow
  int terminal = 0;
  int margin = 100;
  int tax = 0;
  int capital = 1000;  // revenue per unit of capital
  int wacc = 100;
};
std::ostream& operator<<(std::ostream& out, const FirmPlan& plan) {
  return out << plan.revenue << " million, per mille: growth " << plan.growth << " to "
             << plan.terminal << ", margin " << plan.margin << ", tax " << plan.tax
             << ", sales to capital " << plan.capital << ", wacc " << plan.wacc;
}

rc::Gen<FirmPlan> any_firm() {
  return rc::gen::build<FirmPlan>(rc::gen::set(&FirmPlan::revenue, rc::gen::inRange(1, 100'000)),
                                  rc::gen::set(&FirmPlan::growth, rc::gen::inRange(-80, 180)),
                                  rc::gen::set(&FirmPlan::terminal, rc::gen::inRange(-20, 60)),
                                  rc::gen::set(&FirmPlan::margin, rc::gen::inRange(1, 600)),
                                  rc::gen::set(&FirmPlan::tax, rc::gen::inRange(0, 351)),
                                  rc::gen::set(&FirmPlan::capital, rc::gen::inRange(50, 5000)),
                                  rc::gen::set(&FirmPlan::wacc, rc::gen::inRange(0, 200)));
}

DcfAssumptions assumptions_of(const FirmPlan& plan) {
  return {.base_revenue = plan.revenue * 1e6,
          .initial_growth = plan.growth / 1000.0,
          .terminal_growth = plan.terminal / 1000.0,
          .target_operating_margin = plan.margin / 1000.0,
          .model_tax_rate = plan.tax / 1000.0,
          .sales_to_capital = plan.capital / 1000.0};
}

double wacc_of(const FirmPlan& plan) { return plan.wacc / 1000.0; }

Constants any_horizon() {
  Constants constants;
  constants.horizon_years = *rc::gen::inRange(1, 16);
  constants.growth_years = *rc::gen::inRange(0, 16);
  return constants;
}

bool is_close(double a, double b, double scale) { return std::abs(a - b) <= 1e-11 * scale; }

// In long double, from the text of the definition.
struct DirectValue {
  long double enterprise_value = 0;
  long double scale = 0;  // the sum of the absolute parts
};

DirectValue direct_value(const FirmPlan& plan, const Constants& constants) {
  const DcfAssumptions a = assumptions_of(plan);
  const long double w = wacc_of(plan);
  const long double kept = 1 - static_cast<long double>(a.model_tax_rate);
  long double before = a.base_revenue;
  long double discount = 1;
  DirectValue value;
  const auto add = [&](long double flow) {
    value.enterprise_value += flow;
    value.scale += std::abs(flow);
  };
  for (int year = 1; year <= constants.horizon_years; ++year) {
    long double g = a.initial_growth;
    if (year > constants.growth_years) {
      g += (static_cast<long double>(a.terminal_growth) - a.initial_growth) *
           (year - constants.growth_years) / (constants.horizon_years - constants.growth_years);
    }
    const long double revenue = before * (1 + g);
    discount *= 1 + w;
    add(revenue * a.target_operating_margin * kept / discount);
    add(-(revenue - before) / a.sales_to_capital / discount);
    before = revenue;
  }
  const long double next = before * (1 + static_cast<long double>(a.terminal_growth));
  const long double rate = w - a.terminal_growth;
  add(next * a.target_operating_margin * kept / rate / discount);
  add(-(next - before) / a.sales_to_capital / rate / discount);
  return value;
}

RC_GTEST_PROP(ProjectionProperty, TheValueIsThatOfADirectComputation, ()) {
  const FirmPlan plan = *any_firm();
  const Constants constants = any_horizon();
  const DcfAssumptions assumptions = assumptions_of(plan);
  const auto value = value_firm(assumptions, wacc_of(plan), constants);
  RC_CLASSIFY(value.has_value(), "a value");
  // Within rounding of the bound, both are right.
  if (plan.wacc - plan.terminal != 10) {
    RC_ASSERT(value.has_value() == (plan.wacc - plan.terminal > 10));
  }
  if (!value) return;
  const DirectValue expected = direct_value(plan, constants);
  RC_ASSERT(is_close(value->enterprise_value, static_cast<double>(expected.enterprise_value),
                     static_cast<double>(expected.scale)));
  RC_ASSERT(value->enterprise_value == value->pv_explicit + value->pv_terminal);
}

// With a constant growth rate, the value is that of Gordon's formula, whatever the horizon.
RC_GTEST_PROP(ProjectionProperty, ConstantGrowthHasAClosedForm, ()) {
  FirmPlan plan = *any_firm();
  plan.growth = plan.terminal;
  RC_PRE(plan.wacc - plan.terminal > 10);
  const DcfAssumptions a = assumptions_of(plan);
  const double g = a.terminal_growth;
  const double nopat =
      a.base_revenue * (1 + g) * a.target_operating_margin * (1 - a.model_tax_rate);
  const double reinvestment = a.base_revenue * g / a.sales_to_capital;
  const double expected = (nopat - reinvestment) / (wacc_of(plan) - g);
  const double scale = (nopat + std::abs(reinvestment)) / (wacc_of(plan) - g);
  const auto value = value_firm(a, wacc_of(plan), any_horizon());
  RC_ASSERT(is_close(value->enterprise_value, expected, scale));
}

RC_GTEST_PROP(ProjectionProperty, TheUnitOfMoneyDoesNotMatter, ()) {
  const FirmPlan plan = *any_firm();
  const double unit = std::ldexp(1, *rc::gen::inRange(-30, 31));
  const DcfAssumptions a = assumptions_of(plan);
  DcfAssumptions b = a;
  b.base_revenue *= unit;
  const Constants constants;
  const auto years = project(a, constants);
  const auto others = project(b, constants);
  for (std::size_t i = 0; i < years.size(); ++i) {
    RC_ASSERT(others[i].growth == years[i].growth);
    RC_ASSERT(others[i].revenue == years[i].revenue * unit);
    RC_ASSERT(others[i].ebit == years[i].ebit * unit);
    RC_ASSERT(others[i].nopat == years[i].nopat * unit);
    RC_ASSERT(others[i].reinvestment == years[i].reinvestment * unit);
    RC_ASSERT(others[i].fcff == years[i].fcff * unit);
  }
  const auto value = value_firm(a, wacc_of(plan), constants);
  if (!value) return;
  const auto other = value_firm(b, wacc_of(plan), constants);
  RC_ASSERT(other->enterprise_value == value->enterprise_value * unit);
  RC_ASSERT(other->terminal_value_convergence == value->terminal_value_convergence * unit);
}

RC_GTEST_PROP(ProjectionProperty, GrowthFadesEvenlyToTheTerminalGrowth, ()) {
  const FirmPlan plan = *any_firm();
  const Constants constants = any_horizon();
  const DcfAssumptions a = assumptions_of(plan);
  const auto years = project(a, constants);
  RC_ASSERT(years.size() == static_cast<std::size_t>(constants.horizon_years));
  double before = a.base_revenue;
  for (std::size_t i = 0; i < years.size(); ++i) {
    const ProjectedYear& year = years[i];
    if (static_cast<int>(i) < constants.growth_years) RC_ASSERT(year.growth == a.initial_growth);
    RC_ASSERT(year.growth <= std::max(a.initial_growth, a.terminal_growth) + 1e-15);
    RC_ASSERT(year.growth >= std::min(a.initial_growth, a.terminal_growth) - 1e-15);
    RC_ASSERT(is_close(year.revenue, before * (1 + year.growth), before));
    RC_ASSERT(year.fcff == year.nopat - year.reinvestment);
    before = year.revenue;
  }
  const bool fades = constants.growth_years < constants.horizon_years;
  if (fades) RC_ASSERT(is_close(years.back().growth, a.terminal_growth, 1));
}

// The cell and the scenario without shifts are the value itself; the others are other firms.
RC_GTEST_PROP(ProjectionProperty, ASensitivityIsTheValueWithOtherAssumptions, ()) {
  const FirmPlan plan = *any_firm();
  const Constants constants;
  const DcfAssumptions a = assumptions_of(plan);
  auto enterprise_value = [&](const DcfAssumptions& assumptions, double wacc) {
    const auto value = value_firm(assumptions, wacc, constants);
    return value ? std::optional(value->enterprise_value) : std::nullopt;
  };
  const auto cells = sensitivity_cells(a, wacc_of(plan), constants);
  RC_ASSERT(cells.size() == 25u);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    DcfAssumptions shifted = a;
    shifted.terminal_growth += kGrowthShifts[i % 5] / 10000.0;
    RC_ASSERT(cells[i].enterprise_value ==
              enterprise_value(shifted, wacc_of(plan) + kWaccShifts[i / 5] / 10000.0));
  }
  const auto scenarios = scenario_values(a, wacc_of(plan), constants);
  RC_ASSERT(scenarios.size() == 3u);
  RC_ASSERT(scenarios[1].enterprise_value == enterprise_value(a, wacc_of(plan)));
  DcfAssumptions bear = a;
  bear.initial_growth -= 0.03;
  bear.target_operating_margin *= 0.85;
  RC_ASSERT(scenarios[0].enterprise_value == enterprise_value(bear, wacc_of(plan) + 0.01));
}

// Positive cash flows are worth less at a higher cost of capital.
RC_GTEST_PROP(ProjectionProperty, AHigherCostOfCapitalGivesALowerValue, ()) {
  const FirmPlan plan = *any_firm();
  const Constants constants;
  const DcfAssumptions a = assumptions_of(plan);
  const auto value = value_firm(a, wacc_of(plan), constants);
  RC_PRE(value.has_value());
  RC_PRE(value->terminal_fcff > 0);
  for (const ProjectedYear& year : project(a, constants)) RC_PRE(year.fcff > 0);
  const auto dearer = value_firm(a, wacc_of(plan) + 0.001, constants);
  RC_ASSERT(dearer->enterprise_value < value->enterprise_value);
  RC_ASSERT(dearer->terminal_fcff == value->terminal_fcff);
}

RC_GTEST_PROP(ProjectionProperty, ABankIsWorthItsBookValueIfItEarnsItsCostOfEquity, ()) {
  const FirmPlan plan = *any_firm();
  const double growth = plan.terminal / 1000.0;
  const double cost = wacc_of(plan);
  const auto price = justified_price_to_book(cost, cost, growth, Constants());
  if (plan.wacc - plan.terminal != 10) {
    RC_ASSERT(price.has_value() == (plan.wacc - plan.terminal > 10));
  }
  if (!price) return;
  RC_ASSERT(*price == 1);
  RC_ASSERT(*justified_price_to_book(cost + 0.01, cost, growth, Constants()) > 1);
}

}  // namespace
}  // namespace belay::research
