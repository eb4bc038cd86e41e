#include <utility>

#include "agents/research/report/report_fixture.h"

namespace belay::research {
namespace {

std::vector<ReportConstant> sample_constants() {
  return {{"figure_years", 10, false},
          {"equity_risk_premium", 0.05, false},
          {"statutory_tax_rate", 0.21, false},
          {"tax_rate_min", 0.0, false},
          {"tax_rate_max", 0.35, false},
          {"beta_default", 1.0, false},
          {"beta_months", 60, false},
          {"beta_min_months", 36, false},
          {"market_data_max_age_months", 48, false},
          {"blume_weight", 2.0 / 3, false},
          {"beta_time_average_factor", 4.0 / 3, false},
          {"debt_spread_default", 0.01, false},
          {"debt_spread_max", 0.06, false},
          {"target_debt_weight", 0.2, false},
          {"growth_min", -0.05, false},
          {"growth_max", 0.15, false},
          {"terminal_growth_cap", 0.03, true},
          {"min_wacc_minus_growth", 0.01, false},
          {"growth_years", 5, false},
          {"horizon_years", 10, false},
          {"peer_max_age_days", 550, false},
          {"filing_max_days", 150, false},
          {"restatement_tolerance", 0.005, false}};
}

Finding finding(std::string specialist, std::string subtask, std::string code, Severity severity,
                std::string period_end) {
  return {std::move(specialist), std::move(subtask), std::move(code), severity,
          std::move(period_end)};
}

std::vector<Finding> sample_findings() {
  std::vector<Finding> findings = {
      finding("financial", "red_flag_detection", "low_current_ratio", Severity::medium,
              "2024-09-28"),
      finding("financial", "red_flag_detection", "low_current_ratio", Severity::medium,
              "2025-09-27"),
      finding("financial", "red_flag_detection", "payout_exceeds_fcf", Severity::low, "2025-09-27"),
      finding("financial", "red_flag_detection", "phrase_antitrust", Severity::medium,
              "2025-09-27"),
      finding("governance", "restatements", "restated", Severity::medium, "2017-09-30"),
      finding("governance", "controls", "control_weakness_disclosed", Severity::high, "2025-09-27"),
      finding("risk_factors", "risk_ranking", "top_risk_supply_chain", Severity::low, "2025-09-27"),
      finding("valuation", "wacc_calculation", "cost_of_debt_is_default", Severity::low,
              "2025-09-27"),
  };
  findings[3].metric = "phrase_antitrust";
  findings[3].item = "1A";
  findings[3].offset = 118'204;
  findings[3].quote =
      "For example, the Company is subject to antitrust and competition law proceedings in various "
      "jurisdictions.";
  findings[4].metric = "restated_items";
  findings[5].item = "9A";
  findings[5].quote = "the Company\u2019s disclosure controls and procedures were not effective";
  return findings;
}

}  // namespace

AnalysisDocument sample_document() {
  AnalysisDocument document;
  document.analysis_id = "an-0193-7f21";
  document.ticker = "AAPL";
  document.entity_name = "Apple Inc.";
  document.cik = "0000320193";
  document.as_of = "2026-01-30";
  document.currency = "USD";
  document.fiscal_years = {"2016-09-24", "2017-09-30", "2018-09-29", "2019-09-28", "2020-09-26",
                           "2021-09-25", "2022-09-24", "2023-09-30", "2024-09-28", "2025-09-27"};
  document.peers = {"MSFT", "GOOGL"};
  document.constants = sample_constants();
  document.results = sample_figures();
  document.results.findings = sample_findings();
  document.texts = {
      {"business_model", "business_description",
       "The Company designs, manufactures and markets smartphones, personal computers, tablets, "
       "wearables and accessories, and sells a variety of related services.\n\nThe Company's "
       "fiscal year is the 52- or 53-week period that ends on the last Saturday of September.",
       true, ""},
      {"risk_factors",
       "risk_ranking",
       "Supply of components, and regulation, are the most frequent subjects of Item 1A.",
       false,
       "anthropic/claude-sample",
       {{"1A", 2'048, "The supply of components could be interrupted at any time."}}}};
  document.generated_at = "2026-02-02T08:15:00Z";
  document.failures = {{"industry_macro", "The file of index prices has no row after 2023-12."}};
  document.sources = {{"0000320193-25-000079", "10-K", "2025-10-31", ""},
                      {"0000320193-24-000123", "10-K", "2024-11-01", ""},
                      {"0000950170-25-100235", "10-K", "2025-07-30", "0000789019"}};
  document.reduced_facts = true;
  return document;
}

AnalysisDocument small_document() {
  AnalysisDocument document;
  document.analysis_id = "a1";
  document.ticker = "EXM";
  document.entity_name = "Example & Sons";
  document.cik = "0000000042";
  document.as_of = "2025-03-01";
  document.currency = "USD";
  document.fiscal_years = {"2023-12-31", "2024-12-31"};
  document.constants = {{"beta_default", 1.0, false}, {"growth_max", 0.12, true}};
  document.generated_at = "2025-03-02T00:00:00Z";
  const std::string accn = "0000000042-25-000001";
  const Input revenue = report_fact("Revenues", "2024-01-01", "2024-12-31", 1'234'500'000, accn);
  const Input profit = report_fact("GrossProfit", "2024-01-01", "2024-12-31", 500'000'000, accn);
  Inputs both((Inputs(revenue)));
  both.add(Inputs(profit));
  auto& figures = document.results.figures;
  figures = {{"financial", "10k_parsing", "revenue", "2023-12-31", "USD",
              Quantity::missing(Missing::missing_input, "revenue")},
             {"financial", "10k_parsing", "revenue", "2024-12-31", "USD",
              Quantity::of(1'234'500'000, Inputs(revenue))},
             {"financial", "ratio_calculation", "gross_margin", "2024-12-31", "ratio",
              Quantity::of(500'000'000.0 / 1'234'500'000.0, both)}};
  Finding drop = finding("financial", "red_flag_detection", "gross_margin_drop", Severity::medium,
                         "2024-12-31");
  drop.metric = "gross_margin";
  drop.quote = "Margins fell.";
  drop.item = "7";
  document.results.findings = {drop};
  return document;
}

AnalysisDocument hostile_document() {
  AnalysisDocument document = sample_document();
  const std::string attack =
      "</title></style></svg>\"'><script>alert(1)</script><img src=x onerror=alert(2)>"
      "](javascript:alert(3)) | `code` **bold** <!-- \xE2\x80\xAE\xFF\x01 & &amp; \n# heading";
  document.entity_name = attack;
  document.ticker = attack;
  document.analysis_id = attack;
  document.as_of = attack;
  document.currency = attack;
  document.generated_at = attack;
  document.cik = "1\" onclick=\"alert(4)";
  document.peers = {attack};
  document.constants[0].name = attack;
  document.failures = {{attack, attack}, {"growth", attack}};
  document.texts[0].text = attack + "\n\n" + attack;
  document.texts[1].model = attack;
  document.sources.push_back({attack, attack, attack, attack});
  for (Finding& hostile : document.results.findings) {
    hostile.quote = attack;
    hostile.item = attack;
    hostile.code = attack;
  }
  auto& figures = document.results.figures;
  const Input input{attack, attack, attack, 1, attack, attack, attack};
  figures.push_back({attack, attack, attack, attack, attack, Quantity::of(1, Inputs(input))});
  figures.push_back(
      {"credit", attack, attack, attack, attack, Quantity::missing(Missing::no_text, attack)});
  Quantity zero = Quantity::of(2, Inputs(input));
  zero.assume_zero(attack);
  figures.push_back({"growth", "compound_growth", attack, attack, attack, std::move(zero)});
  document.fiscal_years.push_back(attack);
  figures.push_back({"financial", "10k_parsing", "revenue", attack, attack, Quantity::of(3)});
  return document;
}

}  // namespace belay::research
