#include "agents/research/finance/projection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace belay::research {
namespace {

auto close_to(double expected) { return testing::DoubleNear(expected, std::abs(expected) * 1e-12); }

// Growth 10 % and 2 %, half of the revenue is EBIT, a fifth of it is tax.
DcfAssumptions simple_assumptions() {
  return {.base_revenue = 1000,
          .initial_growth = 0.10,
          .terminal_growth = 0.02,
          .target_operating_margin = 0.5,
          .model_tax_rate = 0.2,
          .sales_to_capital = 2};
}

// Two years, of which one grows at the initial rate: 1000, 1100, 1122.
Constants two_years() {
  Constants constants;
  constants.growth_years = 1;
  constants.horizon_years = 2;
  return constants;
}

TEST(Projection, GrowthFadesInEqualStepsAfterTheFifthYear) {
  const auto years = project(simple_assumptions(), Constants());

  ASSERT_EQ(years.size(), 10u);
  const double expected[] = {0.10, 0.10, 0.10, 0.10, 0.10, 0.084, 0.068, 0.052, 0.036, 0.02};
  for (std::size_t i = 0; i < years.size(); ++i)
    EXPECT_THAT(years[i].growth, close_to(expected[i]));
}

TEST(Projection, AYearFollowsFromTheRevenueOfTheYearBefore) {
  const auto years = project(simple_assumptions(), two_years());

  ASSERT_EQ(years.size(), 2u);
  EXPECT_THAT(years[0].revenue, close_to(1100.0));
  EXPECT_THAT(years[0].ebit, close_to(550.0));
  EXPECT_THAT(years[0].nopat, close_to(440.0));
  EXPECT_THAT(years[0].reinvestment, close_to(50.0));
  EXPECT_THAT(years[0].fcff, close_to(390.0));
  EXPECT_THAT(years[1].growth, close_to(0.02));
  EXPECT_THAT(years[1].revenue, close_to(1122.0));
  EXPECT_THAT(years[1].ebit, close_to(561.0));
  EXPECT_THAT(years[1].nopat, close_to(448.8));
  EXPECT_THAT(years[1].reinvestment, close_to(11.0));
  EXPECT_THAT(years[1].fcff, close_to(437.8));
}

TEST(Projection, WithoutFadingYearsGrowthIsConstant) {
  Constants constants = two_years();
  constants.growth_years = 5;
  for (const ProjectedYear& year : project(simple_assumptions(), constants)) {
    EXPECT_EQ(year.growth, 0.10);
  }
}

// Year 3: revenue 1144.44, NOPAT 457.776, reinvestment 11.22.
TEST(Projection, TheFirmIsWorthItsYearsAndTheTerminalValue) {
  const auto value = value_firm(simple_assumptions(), 0.10, two_years());

  ASSERT_TRUE(value);
  EXPECT_THAT(value->terminal_fcff, close_to(446.556));
  EXPECT_THAT(value->terminal_value, close_to(446.556 / 0.08));
  EXPECT_THAT(value->terminal_value_convergence, close_to(4577.76));
  EXPECT_THAT(value->pv_explicit, close_to(390 / 1.1 + 437.8 / 1.21));
  EXPECT_THAT(value->pv_terminal, close_to(5581.95 / 1.21));
  EXPECT_THAT(value->enterprise_value, close_to(390 / 1.1 + 437.8 / 1.21 + 5581.95 / 1.21));
}

TEST(Projection, ThereIsNoValueIfWaccIsCloseToTheTerminalGrowth) {
  DcfAssumptions assumptions = simple_assumptions();
  assumptions.terminal_growth = 0;
  EXPECT_TRUE(value_firm(assumptions, 0.01, Constants()));
  EXPECT_FALSE(value_firm(assumptions, 0.0099999, Constants()));
  EXPECT_FALSE(value_firm(assumptions, -0.5, Constants()));
  EXPECT_FALSE(value_firm(assumptions, std::numeric_limits<double>::quiet_NaN(), Constants()));
}

TEST(Projection, ANumberThatCannotBeCalculatedIsNotFinite) {
  DcfAssumptions assumptions = simple_assumptions();
  assumptions.sales_to_capital = 0;
  const auto value = value_firm(assumptions, 0.10, Constants());

  ASSERT_TRUE(value);
  EXPECT_FALSE(std::isfinite(value->enterprise_value));
}

// Apple's six assumptions for the year to 2025-09-27 from the figures as filed.
DcfAssumptions apple_assumptions() {
  const double revenue = 416161e6;
  const double margins = 133050e6 / revenue + 123216e6 / 391035e6 + 114301e6 / 383285e6;
  const double debt = 78328e6 + (12350e6 + 7979e6);
  return {.base_revenue = revenue,
          .initial_growth = std::pow(revenue / 274515e6, 1.0 / 5) - 1,
          .terminal_growth = 0.025,
          .target_operating_margin = margins / 3,
          .model_tax_rate = 20719e6 / 132729e6,
          .sales_to_capital = revenue / (73733e6 + debt - 35934e6)};
}

// Risk-free rate of 2025-12 4.14 %, beta 1.4585285252293487 before Blume's adjustment, public float
// 3,253,431 million, no interest expense in the file.
double apple_wacc() {
  const double risk_free = 0.0414;
  const double beta = 2.0 / 3 * 1.4585285252293487 + 1.0 / 3;
  const double cost_of_equity = risk_free + beta * 0.05;
  const double cost_of_debt = (risk_free + 0.01) * (1 - 20719e6 / 132729e6);
  const double weight_debt = 98657e6 / (3253431e6 + 98657e6);
  return (1 - weight_debt) * cost_of_equity + weight_debt * cost_of_debt;
}

TEST(Projection, ApplesEnterpriseValueIsTheGoldenValue) {
  EXPECT_NEAR(apple_wacc(), 0.1048210394957704, 1e-15);
  const auto value = value_firm(apple_assumptions(), apple_wacc(), Constants());

  ASSERT_TRUE(value);
  EXPECT_THAT(value->enterprise_value, close_to(1853214578969.585));
}

std::map<std::string, std::optional<double>> cells_by_name(const DcfAssumptions& assumptions,
                                                           double wacc) {
  std::map<std::string, std::optional<double>> cells;
  for (const SensitivityCell& cell : sensitivity_cells(assumptions, wacc, Constants())) {
    EXPECT_TRUE(cells.emplace(cell.name, cell.enterprise_value).second) << cell.name;
  }
  return cells;
}

TEST(Sensitivity, ThereAre25CellsNamedByTheirShifts) {
  const auto cells = cells_by_name(apple_assumptions(), 0.1);

  EXPECT_EQ(cells.size(), 25u);
  for (const char* name : {"w-100_g-50", "w-50_g-25", "w+0_g+0", "w+50_g+25", "w+100_g+50"}) {
    EXPECT_TRUE(cells.contains(name)) << name;
  }
}

TEST(Sensitivity, ACellIsTheValueWithBothShifts) {
  DcfAssumptions shifted = apple_assumptions();
  shifted.terminal_growth = 0.0275;
  const double expected = value_firm(shifted, 0.09, Constants())->enterprise_value;
  const auto cells = cells_by_name(apple_assumptions(), 0.1);

  EXPECT_THAT(*cells.at("w-100_g+25"), close_to(expected));
  EXPECT_EQ(cells.at("w+0_g+0"),
            value_firm(apple_assumptions(), 0.1, Constants())->enterprise_value);
  EXPECT_LT(*cells.at("w+50_g+0"), *cells.at("w+0_g+0"));
}

TEST(Sensitivity, OnlyCellsWithEnoughDistanceBetweenWaccAndGrowthHaveAValue) {
  DcfAssumptions assumptions = simple_assumptions();
  const auto cells = cells_by_name(assumptions, 0.0325);

  EXPECT_TRUE(cells.at("w+0_g+0"));      // 1.25 % apart
  EXPECT_FALSE(cells.at("w+0_g+50"));    // 0.75 %
  EXPECT_FALSE(cells.at("w-50_g+0"));    // 0.75 %
  EXPECT_TRUE(cells.at("w-50_g-50"));    // 1.25 %
  EXPECT_TRUE(cells.at("w+100_g+50"));   // 1.75 %
  EXPECT_FALSE(cells.at("w-100_g-50"));  // 0.75 %
}

TEST(Scenarios, ShiftWaccGrowthAndMargin) {
  DcfAssumptions bear = simple_assumptions();
  bear.initial_growth = 0.07;
  bear.target_operating_margin = 0.425;
  DcfAssumptions bull = simple_assumptions();
  bull.initial_growth = 0.13;
  bull.target_operating_margin = 0.55;
  const auto values = scenario_values(simple_assumptions(), 0.10, Constants());

  ASSERT_EQ(values.size(), 3u);
  EXPECT_EQ(values[0].name, "bear");
  EXPECT_THAT(*values[0].enterprise_value,
              close_to(value_firm(bear, 0.11, Constants())->enterprise_value));
  EXPECT_EQ(values[1].name, "base");
  EXPECT_EQ(values[1].enterprise_value,
            value_firm(simple_assumptions(), 0.10, Constants())->enterprise_value);
  EXPECT_EQ(values[2].name, "bull");
  EXPECT_THAT(*values[2].enterprise_value,
              close_to(value_firm(bull, 0.095, Constants())->enterprise_value));
}

TEST(Scenarios, GrowthIsNotClippedAgain) {
  DcfAssumptions assumptions = simple_assumptions();
  assumptions.initial_growth = 0.15;
  DcfAssumptions bull = assumptions;
  bull.initial_growth = 0.18;
  bull.target_operating_margin = 0.55;

  EXPECT_THAT(*scenario_values(assumptions, 0.10, Constants())[2].enterprise_value,
              close_to(value_firm(bull, 0.095, Constants())->enterprise_value));
}

TEST(Scenarios, AScenarioWithoutDistanceHasNoValue) {
  const auto values = scenario_values(simple_assumptions(), 0.0325, Constants());

  EXPECT_TRUE(values[0].enterprise_value);
  EXPECT_TRUE(values[1].enterprise_value);
  EXPECT_FALSE(values[2].enterprise_value);  // 0.75 % apart
}

TEST(JustifiedPriceToBook, IsTheSpreadOfReturnOverThatOfCost) {
  const auto price = justified_price_to_book(0.17, 0.10, 0.02, Constants());

  ASSERT_TRUE(price);
  EXPECT_THAT(*price, close_to(0.15 / 0.08));
  EXPECT_FALSE(justified_price_to_book(0.17, 0.029, 0.02, Constants()));
}

}  // namespace
}  // namespace belay::research
