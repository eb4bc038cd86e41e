#pragma once
// agents/research/finance/constants.h - the declared assumptions of an analysis.
//
// docs/research.md, section 3, gives the reasons of each. None of them is a measurement.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/finance/quantity.h"

namespace belay::research {

// A new value of a constant.
struct ConstantOverride {
  std::string name;
  double value = 0;
};

struct Constants {
  int figure_years = 10;              // reported fiscal years
  double equity_risk_premium = 0.05;  // per year
  double statutory_tax_rate = 0.21;   // if a filing gives no tax rate
  double tax_rate_min = 0.0;          // tax_rate_min <= tax_rate_max
  double tax_rate_max = 0.35;
  double beta_default = 1.0;  // the market's beta
  int beta_months = 60;       // of the regression at most
  int beta_min_months = 36;   // of the regression at least
  int market_data_max_age_months = 48;
  double blume_weight = 2.0 / 3;  // of the measured beta; the rest is of the market's
  double beta_time_average_factor = 4.0 / 3;
  double debt_spread_default = 0.01;  // over the risk-free rate
  double debt_spread_max = 0.06;
  double target_debt_weight = 0.2;
  double growth_min = -0.05;  // growth_min <= growth_max
  double growth_max = 0.15;
  double terminal_growth_cap = 0.025;
  double min_wacc_minus_growth = 0.01;
  int growth_years = 5;    // before the growth begins to fade
  int horizon_years = 10;  // of the projection; at most 99
  int peer_max_age_days = 550;
  int filing_max_days = 150;
  double restatement_tolerance = 0.005;

  bool operator==(const Constants&) const = default;

  // Sets one constant. Returns an error that names the constant and the permitted range, and
  // changes nothing, if the name is unknown, the value is outside the range, is a fraction although
  // the constant is a number of months, days or years, or contradicts another constant.
  std::optional<std::string> set(std::string_view name, double value);

  // Sets all of them or, after an error, none. The order is without effect, except that of two
  // overrides with the same name the later wins.
  std::optional<std::string> set_all(std::span<const ConstantOverride> overrides);

  // Empty if the name is unknown.
  std::optional<double> value(std::string_view name) const;

  // The constant as an input of a figure: concept "config:NAME". Empty if the name is unknown.
  Inputs source(std::string_view name) const;

  // The constants that differ from the defaults, in the order of names().
  std::vector<ConstantOverride> overridden() const;

  // In the order of docs/research.md.
  static std::vector<std::string> names();
};

}  // namespace belay::research
