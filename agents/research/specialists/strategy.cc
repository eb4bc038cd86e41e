#include "agents/research/specialists/strategy.h"

#include "agents/research/finance/market_figures.h"
#include "agents/research/specialists/valuation.h"
#include "agents/research/specialists/weighted_score.h"
#include "agents/research/specialists/years_available.h"

namespace belay::research {
namespace {

constexpr int kReviewedYears = 10;
constexpr std::size_t kReviewedYearsMin = 3;

Quantity acquisition_years(const Company& company) {
  std::vector<YearValue> values = years_available(company, "acquisitions", 0, kReviewedYears);
  Quantity count = sum_of_available(values, kReviewedYearsMin, "acquisitions");
  if (!count.is_available()) return count;
  double years = 0;
  for (const YearValue& each : values) years += each.quantity.value() > 0;
  return calculated_from(years, {&count});
}

// The sums over the years that have both values.
Quantity acquisitions_to_cash_flow(const Company& company) {
  auto both = [&](std::string_view wanted, std::string_view other) {
    auto value = [&company, wanted, other](std::size_t year) {
      Quantity quantity = company.value(other, year);
      return quantity.is_available() ? company.value(wanted, year) : quantity;
    };
    return sum_of_available(years_available(company, value, 0, kReviewedYears), kReviewedYearsMin,
                            "acquisitions and cfo");
  };
  Quantity acquisitions = both("acquisitions", "cfo");
  Quantity cash_flow = both("cfo", "acquisitions");
  if (cash_flow.is_available() && cash_flow.value() <= 0) {
    return Quantity::missing(Missing::non_positive, "the sum of cfo is not greater than 0");
  }
  return calculated_from(acquisitions.value() / cash_flow.value(), {&acquisitions, &cash_flow});
}

Quantity roic_spread(const Company& company) {
  Quantity roic = company.evaluate("(roic + roic[-1] + roic[-2]) / 3", company.last_year());
  Quantity wacc = capital_cost(company).wacc;
  return calculated_from(roic.value() - wacc.value(), {&roic, &wacc});
}

}  // namespace

Results measure_returns(const Company& company) {
  SubtaskResults results(company, "strategy", "historical_roi");
  results.add_formulas();
  results.append({shareholder_returns(company.market()), {}});
  return results.take();
}

Results review_acquisitions(const Company& company) {
  SubtaskResults results(company, "strategy", "ma_review");
  results.add_formulas();
  results.add_latest("acquisition_years_10y", "count", acquisition_years(company));
  results.add_latest("acquisitions_to_cfo_10y", "ratio", acquisitions_to_cash_flow(company));
  for (std::size_t year : company.reported_years()) {
    Quantity size = company.value("acquisitions_to_opening_assets", year);
    if (size.is_available() && size.value() > 0.10) {
      results.find("large_acquisition", Severity::medium, year, "acquisitions_to_opening_assets");
    }
    Quantity growth = company.value("goodwill_growth", year);
    if (growth.is_available() && growth.value() < -0.05) {
      results.find("goodwill_decline", Severity::medium, year, "goodwill_growth");
    }
  }
  return results.take();
}

Results analyze_compensation(const Company& company) {
  SubtaskResults results(company, "strategy", "mgmt_compensation");
  results.add_formulas();
  Quantity pay =
      company.statements().tag("ecd:PeoTotalCompAmt", ItemKind::flow, company.last_year());
  results.add_latest("ceo_total_compensation", "cur", pay);
  return results.take();
}

Results score_capital_allocation(const Company& company) {
  SubtaskResults results(company, "strategy", "capital_allocation_scoring");
  std::size_t year = company.last_year();
  Quantity spread = roic_spread(company);
  Quantity conversion = company.evaluate(
      "(cfo + cfo[-1] + cfo[-2]) / pos(net_income + net_income[-1] + net_income[-2])", year);
  Quantity payout = company.evaluate(
      "((dividends_paid + buybacks) + (dividends_paid[-1] + buybacks[-1]) + (dividends_paid[-2] + "
      "buybacks[-2])) / pos((cfo - capex) + (cfo[-1] - capex[-1]) + (cfo[-2] - capex[-2]))",
      year);
  Quantity score =
      weighted_score({{spread, -0.05, 0.15, 0.30},
                      {company.value("roi_incremental_5y", year), 0, 0.30, 0.20},
                      {conversion, 0.5, 1.2, 0.15},
                      {payout, 1.5, 0.9, 0.15},
                      {company.value("diluted_share_cagr_3y", year), 0.05, -0.03, 0.10},
                      {company.value("net_debt_to_ebitda", year), 4, 0, 0.10}},
                     "capital_allocation_score");
  results.add_latest_for(ForBanks::no, "allocation_roic_spread_3y", "ratio", spread);
  results.add_latest_for(ForBanks::no, "allocation_cash_conversion_3y", "ratio", conversion);
  results.add_latest_for(ForBanks::no, "allocation_payout_to_fcf_3y", "ratio", payout);
  results.add_latest_for(ForBanks::no, "capital_allocation_score", "score", score);
  return results.take();
}

}  // namespace belay::research
