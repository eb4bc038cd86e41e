// Meanings of findings and constants, for readers of a report.
#include <algorithm>
#include <iterator>

#include "agents/research/report/metric_labels.h"

namespace belay::research::report {
namespace {

struct Meaning {
  std::string_view name;
  std::string_view text;
};

constexpr Meaning kConditions[] = {
    {"value_from_proxy", "An item of the year comes from a proxy statement, which rounds."},
    {"receivables_outpace_sales", "Receivables grew more than 10 points faster than revenue."},
    {"inventory_outpace_sales", "Inventory grew more than 10 points faster than revenue."},
    {"net_loss", "Net income is negative."},
    {"negative_operating_cash_flow", "Operating cash flow is negative."},
    {"weak_cash_backing", "Operating cash flow is less than 0.8 of net income."},
    {"high_accruals", "Accruals exceed 10% of average assets."},
    {"gross_margin_drop", "The gross margin fell by more than 3 points."},
    {"operating_margin_drop", "The operating margin fell by more than 5 points."},
    {"revenue_decline", "Revenue fell by more than 5%."},
    {"negative_equity", "Equity is negative."},
    {"low_current_ratio", "Current assets are less than current liabilities."},
    {"high_leverage", "Net debt exceeds 4 times EBITDA."},
    {"low_interest_coverage", "Operating income is less than 2 times the interest expense."},
    {"goodwill_heavy", "Goodwill and intangibles exceed 40% of assets."},
    {"sbc_heavy", "Stock compensation exceeds 15% of revenue."},
    {"dilution", "Diluted shares grew by more than 5%."},
    {"unusual_tax_rate", "The effective tax rate is below 5% or above 40%."},
    {"payout_exceeds_fcf", "Dividends and repurchases exceed free cash flow."},
    {"phrase_going_concern", "The annual report contains \"going concern\"."},
    {"phrase_substantial_doubt", "The annual report contains \"substantial doubt\"."},
    {"phrase_not_effective", "The annual report contains \"not effective\"."},
    {"phrase_subpoena", "The annual report contains \"subpoena\"."},
    {"phrase_antitrust", "The annual report contains \"antitrust\"."},
    {"large_acquisition", "Acquisitions exceed 10% of the year's opening assets."},
    {"goodwill_decline", "Goodwill fell by more than 5%."},
    {"beta_is_default", "No beta could be measured; the declared default is used."},
    {"cost_of_debt_is_default", "No cost of debt could be measured; the declared spread is used."},
    {"weights_are_target", "No public float was filed; the declared target weight is used."},
    {"tax_rate_is_statutory", "No effective tax rate is available; the statutory one is used."},
    {"beneish_above_threshold", "The M-score exceeds −1.78."},
    {"weak_fundamentals", "The F-score is 3 or less."},
    {"distress_zone", "Altman's Z (1968) is below 1.81."},
    {"distress_zone_book", "Altman's Z″ (1995) is below 1.10."},
    {"restated", "An item of the year was filed again with a different value."},
    {"control_weakness_disclosed", "Item 9A contains \"not effective\" or \"material weakness\"."},
};

constexpr Meaning kConstants[] = {
    {"figure_years", "Fiscal years that are reported"},
    {"equity_risk_premium", "Return of equity above the risk-free rate; published: 4 to 6%"},
    {"statutory_tax_rate", "US federal rate, where the effective rate is not available"},
    {"tax_rate_min", "Least tax rate of the model: a negative rate becomes this one"},
    {"tax_rate_max", "Greatest tax rate of the model"},
    {"beta_default", "Beta if it cannot be measured: that of the market"},
    {"beta_months", "Months of the beta regression"},
    {"beta_min_months", "Least number of months of the beta regression"},
    {"market_data_max_age_months", "Greatest age of market data at the as-of date"},
    {"blume_weight", "Weight of the measured beta; the rest is 1 (Blume 1975)"},
    {"beta_time_average_factor", "Correction for an index of monthly averages (Working 1960)"},
    {"debt_spread_default", "Cost of debt above the risk-free rate, if it cannot be measured"},
    {"debt_spread_max", "Greatest cost of debt above the risk-free rate"},
    {"target_debt_weight", "Weight of debt where no public float was filed"},
    {"growth_min", "Least initial growth"},
    {"growth_max", "Greatest initial growth"},
    {"terminal_growth_cap", "Greatest terminal growth"},
    {"min_wacc_minus_growth", "Least distance of the discount rate from terminal growth"},
    {"growth_years", "Years of initial growth"},
    {"horizon_years", "Years of the projection"},
    {"peer_max_age_days", "Greatest age of a peer's latest fiscal year"},
    {"filing_max_days", "Latest first filing of a fiscal year that counts"},
    {"restatement_tolerance", "Least relative difference of a restated item"},
};

// Constants with another unit than "ratio".
constexpr Meaning kConstantUnits[] = {
    {"figure_years", "count"},
    {"beta_months", "count"},
    {"beta_min_months", "count"},
    {"market_data_max_age_months", "months"},
    {"growth_years", "count"},
    {"horizon_years", "count"},
    {"peer_max_age_days", "days"},
    {"filing_max_days", "days"},
    {"beta_default", "score"},
    {"blume_weight", "score"},
    {"beta_time_average_factor", "score"},
};

template <std::size_t N>
std::string_view meaning_of(std::string_view name, const Meaning (&meanings)[N]) {
  const auto* found = std::find_if(std::begin(meanings), std::end(meanings),
                                   [&](const Meaning& meaning) { return meaning.name == name; });
  return found == std::end(meanings) ? std::string_view() : found->text;
}

}  // namespace

std::string_view finding_condition(std::string_view code) { return meaning_of(code, kConditions); }

std::string_view constant_meaning(std::string_view name) { return meaning_of(name, kConstants); }

std::string_view constant_unit(std::string_view name) {
  const std::string_view unit = meaning_of(name, kConstantUnits);
  return unit.empty() ? "ratio" : unit;
}

}  // namespace belay::research::report
