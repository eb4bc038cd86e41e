#include "agents/research/finance/constants.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>
#include <vector>

namespace belay::research {
namespace {

TEST(Constants, HaveTheDefaultsOfTheDocumentation) {
  const std::map<std::string, double> documented = {{"figure_years", 10},
                                                    {"equity_risk_premium", 0.05},
                                                    {"statutory_tax_rate", 0.21},
                                                    {"tax_rate_min", 0.0},
                                                    {"tax_rate_max", 0.35},
                                                    {"beta_default", 1.0},
                                                    {"beta_months", 60},
                                                    {"beta_min_months", 36},
                                                    {"market_data_max_age_months", 48},
                                                    {"blume_weight", 2.0 / 3.0},
                                                    {"beta_time_average_factor", 4.0 / 3.0},
                                                    {"debt_spread_default", 0.01},
                                                    {"debt_spread_max", 0.06},
                                                    {"target_debt_weight", 0.2},
                                                    {"growth_min", -0.05},
                                                    {"growth_max", 0.15},
                                                    {"terminal_growth_cap", 0.025},
                                                    {"min_wacc_minus_growth", 0.01},
                                                    {"growth_years", 5},
                                                    {"horizon_years", 10},
                                                    {"peer_max_age_days", 550},
                                                    {"filing_max_days", 150},
                                                    {"restatement_tolerance", 0.005}};
  const Constants constants;
  std::map<std::string, double> defaults;
  for (const std::string& name : Constants::names()) defaults[name] = *constants.value(name);

  EXPECT_EQ(defaults, documented);
  EXPECT_EQ(Constants::names().size(), documented.size());
  EXPECT_TRUE(constants.overridden().empty());
}

TEST(Constants, EveryDefaultIsInsideItsRange) {
  for (const std::string& name : Constants::names()) {
    Constants constants;
    EXPECT_EQ(constants.set(name, *constants.value(name)), std::nullopt) << name;
  }
}

TEST(Constants, AnOverrideChangesOneConstantAndIsListed) {
  Constants constants;
  ASSERT_EQ(constants.set("equity_risk_premium", 0.06), std::nullopt);
  ASSERT_EQ(constants.set("beta_months", 24), std::nullopt);

  EXPECT_EQ(constants.equity_risk_premium, 0.06);
  EXPECT_EQ(constants.beta_months, 24);
  const auto changed = constants.overridden();
  ASSERT_EQ(changed.size(), 2u);
  EXPECT_EQ(changed[0].name, "equity_risk_premium");
  EXPECT_EQ(changed[0].value, 0.06);
  EXPECT_EQ(changed[1].name, "beta_months");
  EXPECT_EQ(changed[1].value, 24);
}

TEST(Constants, AnUnknownNameIsRefused) {
  Constants constants;
  EXPECT_EQ(constants.set("risk_premium", 0.06), "there is no constant \"risk_premium\"");
  EXPECT_EQ(constants.value("risk_premium"), std::nullopt);
  EXPECT_TRUE(constants.source("risk_premium").all().empty());
  EXPECT_EQ(constants, Constants());
  EXPECT_LT(constants.set(std::string(100000, 'x'), 1)->size(), 100u);
}

TEST(Constants, AValueOutsideTheRangeIsRefused) {
  Constants constants;
  EXPECT_EQ(constants.set("horizon_years", 100),
            "horizon_years must be a whole number from 1 to 99");
  EXPECT_EQ(constants.set("growth_max", -1.5), "growth_max must be a number from -1 to 10");
  for (const std::string& name : Constants::names()) {
    for (const double value :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
          -std::numeric_limits<double>::infinity(), 1e300, -1e300}) {
      EXPECT_NE(constants.set(name, value), std::nullopt) << name << " " << value;
    }
  }
  EXPECT_EQ(constants, Constants());
}

TEST(Constants, ANumberOfMonthsIsWhole) {
  Constants constants;
  EXPECT_EQ(constants.set("beta_months", 48.5),
            "beta_months must be a whole number from 2 to 1200");
  EXPECT_EQ(constants.beta_months, 60);
}

TEST(Constants, LimitsMustNotCross) {
  Constants constants;
  EXPECT_EQ(constants.set("tax_rate_min", 0.4),
            "tax_rate_min must not be greater than tax_rate_max");
  EXPECT_EQ(constants.set("growth_max", -0.06), "growth_min must not be greater than growth_max");
  EXPECT_EQ(constants, Constants());
  EXPECT_EQ(constants.set("tax_rate_min", 0.35), std::nullopt);
}

TEST(Constants, SeveralAreSetInAnyOrderOrNotAtAll) {
  const std::vector<ConstantOverride> both = {{"tax_rate_min", 0.4}, {"tax_rate_max", 0.5}};
  Constants constants;
  ASSERT_EQ(constants.set_all(both), std::nullopt);
  EXPECT_EQ(constants.tax_rate_min, 0.4);
  EXPECT_EQ(constants.tax_rate_max, 0.5);

  Constants unchanged;
  const std::vector<ConstantOverride> half = {{"tax_rate_max", 0.5}, {"unknown", 1}};
  EXPECT_NE(unchanged.set_all(half), std::nullopt);
  EXPECT_EQ(unchanged, Constants());
}

TEST(Constants, AConstantIsAnInputWithItsValue) {
  Constants constants;
  ASSERT_EQ(constants.set("debt_spread_max", 0.07), std::nullopt);
  const Inputs inputs = constants.source("debt_spread_max");

  ASSERT_EQ(inputs.all().size(), 1u);
  EXPECT_EQ(*inputs.all()[0], (Input{.concept_name = "config:debt_spread_max", .value = 0.07}));
}

}  // namespace
}  // namespace belay::research
