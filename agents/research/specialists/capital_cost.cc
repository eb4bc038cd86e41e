// The cost of capital: the capital asset pricing model (Sharpe 1964), with declared assumptions for
// the values that the data do not have.

#include <algorithm>

#include "agents/research/finance/market_figures.h"
#include "agents/research/specialists/valuation.h"

namespace belay::research {
namespace {

Quantity mismatch(const Company& company) {
  return Quantity::missing(Missing::currency_mismatch,
                           "rates in USD do not discount " + company.currency());
}

// The interest of the year on the average debt, within bounds that the risk-free rate sets.
Quantity cost_of_debt(const Company& company, const Quantity& risk_free, bool& is_default) {
  if (!risk_free.is_available()) return risk_free;
  Quantity rate = company.evaluate("interest_expense / pos(avg(total_debt))", company.last_year());
  is_default = !rate.is_available();
  if (is_default) {
    Quantity spread = constant(company.constants(), "debt_spread_default");
    return calculated_from(risk_free.value() + spread.value(), {&risk_free, &spread});
  }
  Quantity spread = constant(company.constants(), "debt_spread_max");
  double low = risk_free.value();
  double clipped = std::clamp(rate.value(), low, low + spread.value());
  return calculated_from(clipped, {&rate, &risk_free, &spread});
}

Quantity equity_for_weights(const Company& company) {
  Quantity equity = company.statements().public_float(std::nullopt);
  if (!equity.is_available() || equity.value() > 0) return equity;
  return Quantity::missing(Missing::non_positive, "public_float");
}

Quantity debt_weight(const Company& company, const CapitalCost& cost) {
  if (!cost.equity.is_available()) return constant(company.constants(), "target_debt_weight");
  double sum = cost.equity.value() + cost.debt.value();
  if (cost.debt.is_available() && sum <= 0) {
    return Quantity::missing(Missing::non_positive, "equity and debt");
  }
  return calculated_from(cost.debt.value() / sum, {&cost.debt, &cost.equity});
}

void combine(const Company& company, CapitalCost& cost) {
  const Quantity premium = constant(company.constants(), "equity_risk_premium");
  const Quantity tax = company.value("tax_rate_model", company.last_year());
  cost.cost_of_equity =
      calculated_from(cost.risk_free_rate.value() + cost.beta.value() * premium.value(),
                      {&cost.risk_free_rate, &cost.beta, &premium});
  cost.cost_of_debt_aftertax = calculated_from(cost.cost_of_debt_pretax.value() * (1 - tax.value()),
                                               {&cost.cost_of_debt_pretax, &tax});
  cost.weight_equity = calculated_from(1 - cost.weight_debt.value(), {&cost.weight_debt});
  cost.wacc = calculated_from(
      cost.weight_equity.value() * cost.cost_of_equity.value() +
          cost.weight_debt.value() * cost.cost_of_debt_aftertax.value(),
      {&cost.weight_equity, &cost.cost_of_equity, &cost.weight_debt, &cost.cost_of_debt_aftertax});
}

// Replaces the values that depend on market rates, or that are not defined for a bank.
void replace_unusable(const Company& company, CapitalCost& cost) {
  if (company.currency() != "USD") {
    for (Quantity* each : {&cost.risk_free_rate, &cost.beta, &cost.cost_of_equity,
                           &cost.cost_of_debt_pretax, &cost.cost_of_debt_aftertax, &cost.equity,
                           &cost.weight_debt, &cost.weight_equity, &cost.wacc}) {
      *each = mismatch(company);
    }
  }
  if (std::optional<Quantity> other = company.not_applicable(ForBanks::no)) {
    for (Quantity* each : {&cost.cost_of_debt_pretax, &cost.cost_of_debt_aftertax, &cost.equity,
                           &cost.debt, &cost.weight_debt, &cost.weight_equity, &cost.wacc}) {
      *each = *other;
    }
  }
}

}  // namespace

CapitalCost capital_cost(const Company& company) {
  CapitalCost cost;
  MarketView market = company.market();
  cost.risk_free_rate = risk_free_rate(market);
  cost.beta = beta_adjusted(market);
  cost.has_default_beta = !cost.beta.is_available();
  if (cost.has_default_beta) cost.beta = constant(company.constants(), "beta_default");
  cost.cost_of_debt_pretax =
      cost_of_debt(company, cost.risk_free_rate, cost.has_default_cost_of_debt);
  cost.equity = equity_for_weights(company);
  cost.has_target_weights = !cost.equity.is_available();
  cost.debt = company.value("total_debt", company.last_year());
  cost.weight_debt = debt_weight(company, cost);
  combine(company, cost);
  replace_unusable(company, cost);
  return cost;
}

Results calculate_wacc(const Company& company) {
  SubtaskResults results(company, "valuation", "wacc_calculation");
  CapitalCost cost = capital_cost(company);
  results.add_latest("wacc_risk_free_rate", "ratio", cost.risk_free_rate);
  results.add_latest("wacc_beta", "ratio", cost.beta);
  results.add_latest("cost_of_equity", "ratio", cost.cost_of_equity);
  results.add_latest("cost_of_debt_pretax", "ratio", cost.cost_of_debt_pretax);
  results.add_latest("cost_of_debt_aftertax", "ratio", cost.cost_of_debt_aftertax);
  results.add_latest("equity_for_weights", "cur", cost.equity);
  results.add_latest("debt_for_weights", "cur", cost.debt);
  results.add_latest("weight_debt", "ratio", cost.weight_debt);
  results.add_latest("weight_equity", "ratio", cost.weight_equity);
  results.add_latest("wacc", "ratio", cost.wacc);
  if (!cost.wacc.is_available()) return results.take();

  auto find_if = [&](bool is_so, const char* code, const char* metric) {
    if (is_so) results.find(code, Severity::low, company.last_year(), metric);
  };
  find_if(cost.has_default_beta, "beta_is_default", "wacc_beta");
  find_if(cost.has_default_cost_of_debt, "cost_of_debt_is_default", "cost_of_debt_pretax");
  find_if(cost.has_target_weights, "weights_are_target", "weight_debt");
  return results.take();
}

}  // namespace belay::research
