#include "agents/research/specialists/business.h"

#include "agents/research/specialists/valuation.h"
#include "agents/research/specialists/weighted_score.h"
#include "agents/research/specialists/years_available.h"

namespace belay::research {
namespace {

constexpr int kYears = 10;
constexpr std::size_t kYearsMin = 3;

Quantity roic_minus_wacc(const Company& company) {
  Quantity roic = company.value("roic", company.last_year());
  Quantity wacc = capital_cost(company).wacc;
  return calculated_from(roic.value() - wacc.value(), {&roic, &wacc});
}

Quantity years_above_wacc(const Company& company) {
  Quantity wacc = capital_cost(company).wacc;
  if (!wacc.is_available()) return wacc;
  Quantity share = share_of_years(years_available(company, "roic", 0, kYears), kYearsMin, "roic",
                                  [&](double roic) { return roic > wacc.value(); });
  return calculated_from(share.value(), {&share, &wacc});
}

}  // namespace

Results compare_excess_returns(const Company& company) {
  SubtaskResults results(company, "competitive_position", "excess_returns");
  results.add_latest_for(ForBanks::no, "roic_minus_wacc", "ratio", roic_minus_wacc(company));
  results.add_latest_for(ForBanks::no, "share_of_years_roic_above_wacc", "ratio",
                         years_above_wacc(company));
  return results.take();
}

Results score_moat(const Company& company) {
  SubtaskResults results(company, "competitive_position", "moat_score");
  std::size_t year = company.last_year();
  Quantity score = weighted_score({{roic_minus_wacc(company), -0.05, 0.15, 0.35},
                                   {years_above_wacc(company), 0, 1, 0.25},
                                   {company.value("gross_margin_mean_5y", year), 0.10, 0.60, 0.20},
                                   {company.value("operating_margin_sd_5y", year), 0.10, 0, 0.20}},
                                  "moat_score");
  results.add_latest_for(ForBanks::no, "moat_score", "score", score);
  return results.take();
}

Results measure_execution(const Company& company) {
  SubtaskResults results(company, "management_quality", "execution_consistency");
  auto is_growth = [](double growth) { return growth > 0; };
  results.add_latest("share_of_years_revenue_grew", "ratio",
                     share_of_years(years_available(company, "revenue_growth", 0, kYears),
                                    kYearsMin, "revenue_growth", is_growth));
  // The difference, since growth is not defined after a loss.
  auto increase = [&](std::size_t year) {
    return company.evaluate("operating_income - operating_income[-1]", year);
  };
  Quantity grew = share_of_years(years_available(company, increase, 0, kYears), kYearsMin,
                                 "operating_income", is_growth);
  results.add_latest_for(ForBanks::no, "share_of_years_operating_income_grew", "ratio", grew);
  return results.take();
}

}  // namespace belay::research
