#include "agents/research/finance/constants.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <variant>

namespace belay::research {
namespace {

using ConstantMember = std::variant<int Constants::*, double Constants::*>;

struct ConstantRow {
  std::string_view name;
  ConstantMember member;
  double least;
  double greatest;
};

// The ranges keep every formula defined and every loop short. They are no opinion about good
// values.
constexpr std::array kConstantRows = {
    ConstantRow{"figure_years", &Constants::figure_years, 1, 100},
    ConstantRow{"equity_risk_premium", &Constants::equity_risk_premium, 0, 1},
    ConstantRow{"statutory_tax_rate", &Constants::statutory_tax_rate, 0, 1},
    ConstantRow{"tax_rate_min", &Constants::tax_rate_min, -1, 1},
    ConstantRow{"tax_rate_max", &Constants::tax_rate_max, -1, 1},
    ConstantRow{"beta_default", &Constants::beta_default, -10, 10},
    ConstantRow{"beta_months", &Constants::beta_months, 2, 1200},
    ConstantRow{"beta_min_months", &Constants::beta_min_months, 2, 1200},
    ConstantRow{"market_data_max_age_months", &Constants::market_data_max_age_months, 1, 12000},
    ConstantRow{"blume_weight", &Constants::blume_weight, 0, 1},
    ConstantRow{"beta_time_average_factor", &Constants::beta_time_average_factor, 0, 10},
    ConstantRow{"debt_spread_default", &Constants::debt_spread_default, 0, 1},
    ConstantRow{"debt_spread_max", &Constants::debt_spread_max, 0, 1},
    ConstantRow{"target_debt_weight", &Constants::target_debt_weight, 0, 1},
    ConstantRow{"growth_min", &Constants::growth_min, -1, 10},
    ConstantRow{"growth_max", &Constants::growth_max, -1, 10},
    ConstantRow{"terminal_growth_cap", &Constants::terminal_growth_cap, -1, 1},
    ConstantRow{"min_wacc_minus_growth", &Constants::min_wacc_minus_growth, 0.0001, 1},
    ConstantRow{"growth_years", &Constants::growth_years, 0, 99},
    ConstantRow{"horizon_years", &Constants::horizon_years, 1, 99},
    ConstantRow{"peer_max_age_days", &Constants::peer_max_age_days, 0, 36500},
    ConstantRow{"filing_max_days", &Constants::filing_max_days, 0, 36500},
    ConstantRow{"restatement_tolerance", &Constants::restatement_tolerance, 0, 1},
};

const ConstantRow* find_constant(std::string_view name) {
  for (const ConstantRow& row : kConstantRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

double stored_constant(const Constants& constants, const ConstantRow& row) {
  return std::visit([&](auto member) { return static_cast<double>(constants.*member); },
                    row.member);
}

std::string number_text(double number) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
  return std::string(buffer, end);
}

// At most 40 bytes of a name that may be any text.
std::string shortened_name(std::string_view name) {
  constexpr std::size_t kShownMax = 40;
  return std::string(name.substr(0, kShownMax)) + (name.size() > kShownMax ? "..." : "");
}

std::optional<std::string> set_constant(Constants& constants, std::string_view name, double value) {
  const ConstantRow* row = find_constant(name);
  if (row == nullptr) return "there is no constant \"" + shortened_name(name) + "\"";
  const bool is_whole = std::holds_alternative<int Constants::*>(row->member);
  // A NaN is inside no range.
  const bool is_inside = value >= row->least && value <= row->greatest;
  if (!is_inside || (is_whole && value != std::floor(value))) {
    return std::string(name) + " must be a " + (is_whole ? "whole " : "") + "number from " +
           number_text(row->least) + " to " + number_text(row->greatest);
  }
  if (const auto* whole = std::get_if<int Constants::*>(&row->member)) {
    constants.*(*whole) = static_cast<int>(value);
  } else {
    constants.*std::get<double Constants::*>(row->member) = value;
  }
  return std::nullopt;
}

std::optional<std::string> contradiction(const Constants& constants) {
  if (constants.tax_rate_min > constants.tax_rate_max) {
    return "tax_rate_min must not be greater than tax_rate_max";
  }
  if (constants.growth_min > constants.growth_max) {
    return "growth_min must not be greater than growth_max";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> Constants::set(std::string_view name, double value) {
  const ConstantOverride only{std::string(name), value};
  return set_all(std::span(&only, 1));
}

std::optional<std::string> Constants::set_all(std::span<const ConstantOverride> overrides) {
  Constants changed = *this;
  for (const ConstantOverride& one : overrides) {
    if (auto error = set_constant(changed, one.name, one.value)) return error;
  }
  if (auto error = contradiction(changed)) return error;
  *this = changed;
  return std::nullopt;
}

std::optional<double> Constants::value(std::string_view name) const {
  const ConstantRow* row = find_constant(name);
  if (row == nullptr) return std::nullopt;
  return stored_constant(*this, *row);
}

Inputs Constants::source(std::string_view name) const {
  const ConstantRow* row = find_constant(name);
  if (row == nullptr) return {};
  return Inputs(
      Input{.concept_name = "config:" + std::string(name), .value = stored_constant(*this, *row)});
}

std::vector<ConstantOverride> Constants::overridden() const {
  const Constants defaults;
  std::vector<ConstantOverride> differing;
  for (const ConstantRow& row : kConstantRows) {
    const double value = stored_constant(*this, row);
    if (value != stored_constant(defaults, row)) {
      differing.push_back({std::string(row.name), value});
    }
  }
  return differing;
}

std::vector<std::string> Constants::names() {
  std::vector<std::string> names;
  for (const ConstantRow& row : kConstantRows) names.emplace_back(row.name);
  return names;
}

}  // namespace belay::research
