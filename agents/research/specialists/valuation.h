#pragma once
// agents/research/specialists/valuation.h - the valuation specialist: cost of capital, discounted
// cash flow and its sensitivity.
//
// All figures are those of the latest fiscal year. Market rates are in US dollars: for statements
// in another currency, what depends on them is a currency_mismatch.

#include <array>

#include "agents/research/specialists/subtask_results.h"

namespace belay::research {

// The functions return the figures and findings of a subtask.
Results assume_cash_flows(const Company& company);
Results project_cash_flows(const Company& company);
Results calculate_wacc(const Company& company);
Results calculate_terminal_value(const Company& company);
Results analyze_sensitivity(const Company& company);

// The weighted average cost of capital, and its parts.
struct CapitalCost {
  Quantity risk_free_rate;
  Quantity beta;
  Quantity cost_of_equity;
  Quantity cost_of_debt_pretax;
  Quantity cost_of_debt_aftertax;
  Quantity equity;  // of the weights
  Quantity debt;    // likewise
  Quantity weight_debt;
  Quantity weight_equity;
  Quantity wacc;
  // Values that were not available, and were replaced by declared assumptions.
  bool has_default_beta = false;
  bool has_default_cost_of_debt = false;
  bool has_target_weights = false;
};
CapitalCost capital_cost(const Company& company);

}  // namespace belay::research
