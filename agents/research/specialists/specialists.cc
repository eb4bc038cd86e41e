#include "agents/research/specialists/specialists.h"

#include <algorithm>

#include "agents/research/specialists/business.h"
#include "agents/research/specialists/financial.h"
#include "agents/research/specialists/quality.h"
#include "agents/research/specialists/strategy.h"
#include "agents/research/specialists/trends.h"
#include "agents/research/specialists/valuation.h"

namespace belay::research {
namespace {

constexpr Destination kRows = Destination::rows;
constexpr Destination kCache = Destination::cache;
constexpr Destination kGraph = Destination::graph;

// A subtask that reads the company's numbers.
template <Results (*function)(const Company&)>
Results numbers(const SubtaskInput& input) {
  return function(input.company);
}

// A subtask that reads the text of the annual report.
template <Results (*function)(const TextContext&)>
Results text(const SubtaskInput& input) {
  return function(input.text);
}

template <Results (*of_numbers)(const Company&), Results (*of_text)(const TextContext&)>
Results both(const SubtaskInput& input) {
  Results results = of_numbers(input.company);
  Results more = of_text(input.text);
  std::move(more.figures.begin(), more.figures.end(), std::back_inserter(results.figures));
  std::move(more.findings.begin(), more.findings.end(), std::back_inserter(results.findings));
  return results;
}

// A subtask whose metrics are all defined by formulas.
template <std::size_t specialist, std::size_t subtask>
Results formulas(const SubtaskInput& input) {
  const Specialist& owner = specialists()[specialist];
  SubtaskResults results(input.company, owner.name, owner.subtasks[subtask].name);
  results.add_formulas();
  return results.take();
}

std::vector<Specialist> statement_specialists() {
  return {
      {"financial",
       {{"10k_parsing", "financial_statements_json", kRows,
         both<parse_statements, item_statistics>},
        {"ratio_calculation", "ratio_table", kRows, numbers<calculate_ratios>},
        {"peer_comparison", "comparison_matrix", kCache, numbers<compare_with_peers>},
        {"red_flag_detection", "findings", kGraph, both<detect_red_flags, red_flag_phrases>}}},
      {"strategy",
       {{"historical_roi", "roi_timeseries", kRows, numbers<measure_returns>},
        {"ma_review", "ma_findings", kGraph, numbers<review_acquisitions>},
        {"mgmt_compensation", "compensation_analysis", kGraph, numbers<analyze_compensation>},
        {"capital_allocation_scoring",
         "final_score",
         kGraph,
         numbers<score_capital_allocation>,
         {"valuation.wacc_calculation", "management_quality.dilution", "credit.leverage"},
         true}}},
      {"valuation",
       {{"dcf_assumptions",
         "assumption_table",
         kRows,
         numbers<assume_cash_flows>,
         {"industry_macro.market_sensitivity", "industry_macro.macro_context"}},
        {"cash_flow_projection", "fcf_model", kRows, numbers<project_cash_flows>},
        {"wacc_calculation", "wacc_result", kRows, numbers<calculate_wacc>},
        {"terminal_value", "terminal_value_calc", kRows, numbers<calculate_terminal_value>},
        {"sensitivity_analysis", "scenario_table", kGraph, numbers<analyze_sensitivity>}}},
      {"business_model",
       {{"business_description", "business_summary", kGraph, text<business_description>},
        {"cost_structure", "cost_table", kRows, formulas<3, 1>},
        {"cash_cycle", "cash_cycle_table", kRows, formulas<3, 2>},
        {"operating_leverage", "leverage_table", kRows, formulas<3, 3>}}},
      {"competitive_position",
       {{"margin_durability", "margin_table", kRows, formulas<4, 0>},
        {"excess_returns",
         "excess_return_table",
         kRows,
         numbers<compare_excess_returns>,
         {"valuation.wacc_calculation"}},
        {"reinvestment_intensity", "reinvestment_table", kRows, formulas<4, 2>},
        {"moat_score", "moat_score", kGraph, numbers<score_moat>}}},
      {"management_quality",
       {{"capital_stewardship", "stewardship_table", kRows, formulas<5, 0>},
        {"dilution", "dilution_table", kRows, formulas<5, 1>},
        {"execution_consistency", "execution_table", kRows, numbers<measure_execution>},
        {"payout_policy", "payout_table", kRows, formulas<5, 3>}}},
  };
}

std::vector<Specialist> other_specialists() {
  return {
      {"risk_factors",
       {{"item_1a_extraction", "risk_text", kRows, text<item_1a_extraction>},
        {"risk_taxonomy", "risk_matrix", kRows, text<risk_taxonomy>},
        {"quantified_risk", "volatility_table", kRows, formulas<6, 2>},
        {"risk_ranking", "top_risks", kGraph, text<risk_ranking>}}},
      {"earnings_quality",
       {{"accruals", "accrual_table", kRows, formulas<7, 0>},
        {"beneish_m_score", "m_score_table", kGraph, numbers<calculate_m_score>},
        {"piotroski_f_score", "f_score_table", kGraph, numbers<calculate_f_score>},
        {"cash_conversion", "conversion_table", kRows, formulas<7, 3>}}},
      {"growth",
       {{"historical_growth", "growth_table", kRows, formulas<8, 0>},
        {"compound_growth", "cagr_table", kRows, formulas<8, 1>},
        {"sustainable_growth", "sustainable_growth_table", kRows, formulas<8, 2>},
        {"growth_stability", "trend_table", kRows, numbers<measure_growth_stability>}}},
      {"credit",
       {{"leverage", "leverage_table", kRows, formulas<9, 0>},
        {"coverage", "coverage_table", kRows, formulas<9, 1>},
        {"altman_z_score", "z_score_table", kGraph, numbers<calculate_z_score>},
        {"liquidity_runway", "liquidity_table", kRows, formulas<9, 3>}}},
      {"industry_macro",
       {{"macro_context", "macro_table", kRows, numbers<describe_macro_context>},
        {"market_sensitivity", "beta_result", kRows, numbers<measure_market_sensitivity>},
        {"real_growth", "real_growth_table", kRows, numbers<measure_real_growth>},
        {"cycle_position", "cycle_table", kRows, numbers<locate_in_cycle>}}},
      {"filing_sentiment",
       {{"tokenization", "token_table", kRows, text<tokenization>},
        {"tone", "tone_table", kRows, text<tone>},
        {"readability", "readability_table", kRows, text<readability>},
        {"section_tone", "section_tone_table", kGraph, text<section_tone>}}},
      {"governance",
       {{"filing_timeliness", "timeliness_table", kRows, numbers<measure_timeliness>},
        {"restatements", "restatement_table", kGraph, numbers<review_restatements>},
        {"share_structure", "share_table", kRows, numbers<describe_shares>},
        {"controls", "controls_findings", kGraph, text<controls>}}},
  };
}

std::vector<Specialist> all_specialists() {
  std::vector<Specialist> all = statement_specialists();
  std::vector<Specialist> others = other_specialists();
  std::move(others.begin(), others.end(), std::back_inserter(all));
  return all;
}

}  // namespace

const std::vector<Specialist>& specialists() {
  static const std::vector<Specialist> all = all_specialists();
  return all;
}

const Specialist* find_specialist(std::string_view name) {
  const std::vector<Specialist>& all = specialists();
  auto found = std::find_if(all.begin(), all.end(),
                            [&](const Specialist& each) { return each.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace belay::research
