#include "agents/research/specialists/valuation.h"

#include <algorithm>

#include "agents/research/finance/market_figures.h"
#include "agents/research/finance/projection.h"

namespace belay::research {
namespace {

Quantity initial_growth(const Company& company) {
  Quantity growth = Quantity::missing(Missing::missing_input, "revenue_growth");
  for (const char* metric : {"revenue_cagr_5y", "revenue_cagr_3y", "revenue_growth"}) {
    growth = company.value(metric, company.last_year());
    if (growth.is_available()) break;
  }
  Quantity low = constant(company.constants(), "growth_min");
  Quantity high = constant(company.constants(), "growth_max");
  return calculated_from(std::clamp(growth.value(), low.value(), high.value()),
                         {&growth, &low, &high});
}

Quantity terminal_growth(const Company& company) {
  if (company.currency() != "USD") {
    return Quantity::missing(Missing::currency_mismatch,
                             "a rate in USD does not bound the growth of " + company.currency());
  }
  Quantity rate = risk_free_rate(company.market());
  Quantity cap = constant(company.constants(), "terminal_growth_cap");
  return calculated_from(std::min(rate.value(), cap.value()), {&rate, &cap});
}

// The mean of the last three years that have a margin; the last year must have one.
Quantity target_margin(const Company& company) {
  std::size_t year = company.last_year();
  Quantity margin = company.value("operating_margin", year);
  if (!margin.is_available()) return margin;
  double sum = margin.value();
  double count = 1;
  for (int i = 1; i <= 2; ++i) {
    std::optional<std::size_t> earlier = company.before(year, i);
    if (!earlier) continue;
    Quantity value = company.value("operating_margin", *earlier);
    if (!value.is_available()) continue;
    sum += value.value();
    ++count;
    margin.add_sources(value);
  }
  if (sum / count <= 0) return Quantity::missing(Missing::non_positive, "operating margin");
  return calculated_from(sum / count, {&margin});
}

Quantity sales_to_capital(const Company& company) {
  return company.evaluate("revenue / pos(invested_capital)", company.last_year());
}

// The six assumptions, and whether all of them are available.
struct Assumptions {
  std::array<Quantity, 6> all;
  DcfAssumptions numbers;
  // With the sources of all, and of the length of the projection; the first reason.
  Quantity together;

  enum Index { base_revenue, initial, terminal, margin, tax, capital };
};

Assumptions assumptions_of(const Company& company) {
  std::size_t year = company.last_year();
  Assumptions result;
  result.all = {company.value("revenue", year),
                initial_growth(company),
                terminal_growth(company),
                target_margin(company),
                company.value("tax_rate_model", year),
                sales_to_capital(company)};
  if (std::optional<Quantity> other = company.not_applicable(ForBanks::no)) {
    for (std::size_t i = 0; i < result.all.size(); ++i) {
      if (i != Assumptions::terminal) result.all[i] = *other;
    }
  }
  const auto& all = result.all;
  const Quantity growth_years = constant(company.constants(), "growth_years");
  const Quantity horizon = constant(company.constants(), "horizon_years");
  result.together = calculated_from(
      0, {&all[0], &all[1], &all[2], &all[3], &all[4], &all[5], &growth_years, &horizon});
  result.numbers = {all[0].value(), all[1].value(), all[2].value(),
                    all[3].value(), all[4].value(), all[5].value()};
  return result;
}

std::string numbered(const char* metric, std::size_t year) {
  return std::string(metric) + (year < 10 ? "_0" : "_") + std::to_string(year);
}

// From the value of the firm to that of its shares.
struct Bridge {
  Quantity net_funds;  // cash and securities, less debt and minority interests
  Quantity shares;
};

Bridge bridge_of(const Company& company) {
  std::size_t year = company.last_year();
  Bridge bridge;
  bridge.net_funds = company.evaluate(
      "cash + opt(short_term_investments) - total_debt - opt(minority_interest)", year);
  bridge.shares = Quantity::missing(Missing::missing_input, "number of shares");
  for (const char* item : {"shares_diluted", "shares_basic", "shares_outstanding"}) {
    Quantity shares = company.value(item, year);
    if (!shares.is_available() || shares.value() <= 0) continue;
    bridge.shares = shares;
    break;
  }
  return bridge;
}

Quantity equity_of(const Quantity& firm, const Bridge& bridge) {
  return calculated_from(firm.value() + bridge.net_funds.value(), {&firm, &bridge.net_funds});
}

Quantity per_share(const Quantity& firm, const Bridge& bridge) {
  Quantity equity = equity_of(firm, bridge);
  return calculated_from(equity.value() / bridge.shares.value(), {&equity, &bridge.shares});
}

// The figures that need all assumptions and the cost of capital.
class FirmValuation {
 public:
  explicit FirmValuation(const Company& company)
      : company_(company),
        assumptions_(assumptions_of(company)),
        wacc_(capital_cost(company).wacc),
        bridge_(bridge_of(company)),
        base_(calculated_from(0, {&assumptions_.together, &wacc_})) {}

  const DcfAssumptions& assumptions() const { return assumptions_.numbers; }
  double wacc() const { return wacc_.value(); }
  const Bridge& bridge() const { return bridge_; }
  const Quantity& base() const { return base_; }

  // A value with the sources of all; non_positive without a value.
  Quantity firm(std::optional<double> value) const {
    if (std::optional<Quantity> other = company_.not_applicable(ForBanks::no)) return *other;
    if (base_.is_available() && !value) {
      return Quantity::missing(Missing::non_positive,
                               "wacc is not far enough above the terminal growth");
    }
    return calculated_from(value.value_or(0), {&base_});
  }

 private:
  const Company& company_;
  const Assumptions assumptions_;
  const Quantity wacc_;
  const Bridge bridge_;
  const Quantity base_;
};

void add_bank_value(const Company& company, SubtaskResults& results) {
  std::size_t year = company.last_year();
  Quantity profit = company.value("return_on_equity", year);
  Quantity growth = terminal_growth(company);
  Quantity cost = capital_cost(company).cost_of_equity;
  std::optional<double> ratio =
      justified_price_to_book(profit.value(), cost.value(), growth.value(), company.constants());
  Quantity price = calculated_from(ratio.value_or(0), {&profit, &growth, &cost});
  if (price.is_available() && !ratio) {
    price = Quantity::missing(Missing::non_positive,
                              "the cost of equity is not far enough above the terminal growth");
  }
  Quantity equity = company.value("equity", year);
  results.add_latest_for(ForBanks::only, "bank_justified_price_to_book", "ratio", price);
  results.add_latest_for(ForBanks::only, "bank_equity_value", "cur",
                         calculated_from(price.value() * equity.value(), {&price, &equity}));
}

}  // namespace

Results assume_cash_flows(const Company& company) {
  SubtaskResults results(company, "valuation", "dcf_assumptions");
  Assumptions assumptions = assumptions_of(company);
  const auto& all = assumptions.all;
  results.add_latest("base_revenue", "cur", all[Assumptions::base_revenue]);
  results.add_latest("initial_growth", "ratio", all[Assumptions::initial]);
  results.add_latest("terminal_growth", "ratio", all[Assumptions::terminal]);
  results.add_latest("target_operating_margin", "ratio", all[Assumptions::margin]);
  results.add_latest("model_tax_rate", "ratio", all[Assumptions::tax]);
  results.add_latest("sales_to_capital", "ratio", all[Assumptions::capital]);
  std::size_t year = company.last_year();
  bool has_tax_rate = company.value("effective_tax_rate", year).is_available();
  if (!has_tax_rate && capital_cost(company).wacc.is_available()) {
    results.find("tax_rate_is_statutory", Severity::low, year, "model_tax_rate");
  }
  return results.take();
}

Results project_cash_flows(const Company& company) {
  SubtaskResults results(company, "valuation", "cash_flow_projection");
  Assumptions assumptions = assumptions_of(company);
  std::vector<ProjectedYear> years = project(assumptions.numbers, company.constants());
  auto add = [&](const char* metric, std::size_t year, double value) {
    results.add_latest_for(ForBanks::no, numbered(metric, year), "cur",
                           calculated_from(value, {&assumptions.together}));
  };
  for (std::size_t i = 0; i < years.size(); ++i) {
    add("proj_revenue", i + 1, years[i].revenue);
    add("proj_ebit", i + 1, years[i].ebit);
    add("proj_nopat", i + 1, years[i].nopat);
    add("proj_reinvestment", i + 1, years[i].reinvestment);
    add("proj_fcff", i + 1, years[i].fcff);
  }
  return results.take();
}

Results calculate_terminal_value(const Company& company) {
  SubtaskResults results(company, "valuation", "terminal_value");
  FirmValuation valuation(company);
  std::optional<FirmValue> value =
      value_firm(valuation.assumptions(), valuation.wacc(), company.constants());
  auto part = [&](double FirmValue::* member) {
    return valuation.firm(value ? std::optional(*value.*member) : std::nullopt);
  };
  Quantity firm = part(&FirmValue::enterprise_value);
  Quantity terminal = part(&FirmValue::pv_terminal);
  results.add_latest("terminal_fcff", "cur", part(&FirmValue::terminal_fcff));
  results.add_latest("terminal_value", "cur", part(&FirmValue::terminal_value));
  results.add_latest("terminal_value_convergence", "cur",
                     part(&FirmValue::terminal_value_convergence));
  results.add_latest("pv_explicit", "cur", part(&FirmValue::pv_explicit));
  results.add_latest("pv_terminal", "cur", terminal);
  results.add_latest("enterprise_value", "cur", firm);
  results.add_latest("equity_value", "cur", equity_of(firm, valuation.bridge()));
  results.add_latest("value_per_share", "cur/shares", per_share(firm, valuation.bridge()));
  Quantity share = calculated_from(terminal.value() / firm.value(), {&terminal, &firm});
  if (firm.is_available() && firm.value() <= 0) {
    share = Quantity::missing(Missing::non_positive, "enterprise_value is not greater than 0");
  }
  results.add_latest("terminal_share", "ratio", share);
  add_bank_value(company, results);
  return results.take();
}

Results analyze_sensitivity(const Company& company) {
  SubtaskResults results(company, "valuation", "sensitivity_analysis");
  FirmValuation valuation(company);
  auto add = [&](const std::string& kind, const std::string& name, std::optional<double> value) {
    Quantity firm = valuation.firm(value);
    results.add_latest(kind + "_ev_" + name, "cur", firm);
    results.add_latest(kind + "_value_per_share_" + name, "cur/shares",
                       per_share(firm, valuation.bridge()));
  };
  const DcfAssumptions& assumptions = valuation.assumptions();
  for (const auto& cell : sensitivity_cells(assumptions, valuation.wacc(), company.constants())) {
    add("sens", cell.name, cell.enterprise_value);
  }
  for (const auto& each : scenario_values(assumptions, valuation.wacc(), company.constants())) {
    add("scenario", each.name, each.enterprise_value);
  }
  return results.take();
}

}  // namespace belay::research
