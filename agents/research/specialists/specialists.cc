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
       "Financial statements",
       "Statements as filed, ratios, peers, and warning signs computed from them.",
       {{"10k_parsing", "Statements and annual report as filed", "financial_statements_json", kRows,
         both<parse_statements, item_statistics>},
        {"ratio_calculation", "Ratios", "ratio_table", kRows, numbers<calculate_ratios>},
        {"peer_comparison", "Peer comparison", "comparison_matrix", kCache,
         numbers<compare_with_peers>},
        {"red_flag_detection", "Red flags", "findings", kGraph,
         both<detect_red_flags, red_flag_phrases>}}},
      {"strategy",
       "Strategy and capital allocation",
       "Returns on the capital used, acquisitions, stock compensation.",
       {{"historical_roi", "Returns over the years", "roi_timeseries", kRows,
         numbers<measure_returns>},
        {"ma_review", "Acquisitions", "ma_findings", kGraph, numbers<review_acquisitions>},
        {"mgmt_compensation", "Stock compensation", "compensation_analysis", kGraph,
         numbers<analyze_compensation>},
        {"capital_allocation_scoring",
         "Capital allocation score",
         "final_score",
         kGraph,
         numbers<score_capital_allocation>,
         {"valuation.wacc_calculation", "management_quality.dilution", "credit.leverage"},
         true}}},
      {"valuation",
       "Valuation",
       "A cash flow model of the firm; its result follows from the declared assumptions.",
       {{"dcf_assumptions",
         "Assumptions of the cash flow model",
         "assumption_table",
         kRows,
         numbers<assume_cash_flows>,
         {"industry_macro.market_sensitivity", "industry_macro.macro_context"}},
        {"cash_flow_projection", "Projected cash flows", "fcf_model", kRows,
         numbers<project_cash_flows>},
        {"wacc_calculation", "Cost of capital", "wacc_result", kRows, numbers<calculate_wacc>},
        {"terminal_value", "Terminal value and equity value", "terminal_value_calc", kRows,
         numbers<calculate_terminal_value>},
        {"sensitivity_analysis", "Sensitivity and scenarios", "scenario_table", kGraph,
         numbers<analyze_sensitivity>}}},
      {"business_model",
       "Business model",
       "Costs, cash cycle, and operating leverage.",
       {{"business_description", "The business as described", "business_summary", kGraph,
         text<business_description>},
        {"cost_structure", "Cost structure", "cost_table", kRows, formulas<3, 1>},
        {"cash_cycle", "Cash conversion cycle", "cash_cycle_table", kRows, formulas<3, 2>},
        {"operating_leverage", "Operating leverage", "leverage_table", kRows, formulas<3, 3>}}},
      {"competitive_position",
       "Competitive position",
       "The facts have no segments, customers or market shares: the position is measured by its "
       "results.",
       {{"margin_durability", "Durability of margins", "margin_table", kRows, formulas<4, 0>},
        {"excess_returns",
         "Returns above the cost of capital",
         "excess_return_table",
         kRows,
         numbers<compare_excess_returns>,
         {"valuation.wacc_calculation"}},
        {"reinvestment_intensity", "Reinvestment", "reinvestment_table", kRows, formulas<4, 2>},
        {"moat_score", "Moat score", "moat_score", kGraph, numbers<score_moat>}}},
  };
}

std::vector<Specialist> other_specialists() {
  return {
      {"management_quality",
       "Management quality",
       "Growth of assets, dilution, consistency, payouts.",
       {{"capital_stewardship", "Stewardship of capital", "stewardship_table", kRows,
         formulas<5, 0>},
        {"dilution", "Dilution", "dilution_table", kRows, formulas<5, 1>},
        {"execution_consistency", "Consistency", "execution_table", kRows,
         numbers<measure_execution>},
        {"payout_policy", "Payouts", "payout_table", kRows, formulas<5, 3>}}},
      {"risk_factors",
       "Risk factors",
       "Item 1A by word categories, and the volatility of results.",
       {{"item_1a_extraction", "Item 1A", "risk_text", kRows, text<item_1a_extraction>},
        {"risk_taxonomy", "Risk words by category", "risk_matrix", kRows, text<risk_taxonomy>},
        {"quantified_risk", "Volatility of results", "volatility_table", kRows, formulas<6, 2>},
        {"risk_ranking", "Most frequent risks", "top_risks", kGraph, text<risk_ranking>}}},
      {"earnings_quality",
       "Earnings quality",
       "Accruals, M-score, F-score, and cash conversion.",
       {{"accruals", "Accruals", "accrual_table", kRows, formulas<7, 0>},
        {"beneish_m_score", "Beneish M-score", "m_score_table", kGraph, numbers<calculate_m_score>},
        {"piotroski_f_score", "Piotroski F-score", "f_score_table", kGraph,
         numbers<calculate_f_score>},
        {"cash_conversion", "Cash conversion", "conversion_table", kRows, formulas<7, 3>}}},
      {"growth",
       "Growth",
       "Growth of the past and the growth that retained earnings sustain.",
       {{"historical_growth", "Growth from year to year", "growth_table", kRows, formulas<8, 0>},
        {"compound_growth", "Compound growth", "cagr_table", kRows, formulas<8, 1>},
        {"sustainable_growth", "Sustainable growth", "sustainable_growth_table", kRows,
         formulas<8, 2>},
        {"growth_stability", "Trend of revenue", "trend_table", kRows,
         numbers<measure_growth_stability>}}},
      {"credit",
       "Credit",
       "Leverage, coverage, distress scores, liquidity.",
       {{"leverage", "Leverage", "leverage_table", kRows, formulas<9, 0>},
        {"coverage", "Coverage", "coverage_table", kRows, formulas<9, 1>},
        {"altman_z_score", "Altman's scores", "z_score_table", kGraph, numbers<calculate_z_score>},
        {"liquidity_runway", "Liquidity", "liquidity_table", kRows, formulas<9, 3>}}},
      {"industry_macro",
       "Industry and macro context",
       "Interest rates, inflation, the market, and the company's sensitivity to it.",
       {{"macro_context", "Rates, inflation, market", "macro_table", kRows,
         numbers<describe_macro_context>},
        {"market_sensitivity", "Beta", "beta_result", kRows, numbers<measure_market_sensitivity>},
        {"real_growth", "Growth after inflation", "real_growth_table", kRows,
         numbers<measure_real_growth>},
        {"cycle_position", "The last year against the years before", "cycle_table", kRows,
         numbers<locate_in_cycle>}}},
      {"filing_sentiment",
       "Sentiment of the filing",
       "Words of the annual report, counted with this project's own lists.",
       {{"tokenization", "Words and sentences", "token_table", kRows, text<tokenization>},
        {"tone", "Tone", "tone_table", kRows, text<tone>},
        {"readability", "Readability", "readability_table", kRows, text<readability>},
        {"section_tone", "Tone of Items 1A and 7", "section_tone_table", kGraph,
         text<section_tone>}}},
      {"governance",
       "Governance",
       "Timeliness, restatements, shares, and internal controls.",
       {{"filing_timeliness", "Timeliness of filings", "timeliness_table", kRows,
         numbers<measure_timeliness>},
        {"restatements", "Restatements", "restatement_table", kGraph, numbers<review_restatements>},
        {"share_structure", "Shares", "share_table", kRows, numbers<describe_shares>},
        {"controls", "Internal controls (Item 9A)", "controls_findings", kGraph, text<controls>}}},
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

std::size_t specialist_position(std::string_view specialist) {
  const std::vector<Specialist>& all = specialists();
  auto found = std::find_if(all.begin(), all.end(),
                            [&](const Specialist& each) { return each.name == specialist; });
  return static_cast<std::size_t>(found - all.begin());
}

std::size_t subtask_position(std::string_view specialist, std::string_view subtask) {
  const Specialist* known = find_specialist(specialist);
  if (!known) return 0;
  const std::vector<Subtask>& all = known->subtasks;
  auto found = std::find_if(all.begin(), all.end(),
                            [&](const Subtask& each) { return each.name == subtask; });
  return static_cast<std::size_t>(found - all.begin());
}

std::string specialist_title(std::string_view specialist) {
  const Specialist* known = find_specialist(specialist);
  return known ? known->title : std::string(specialist);
}

std::string subtask_title(std::string_view specialist, std::string_view subtask) {
  const Specialist* known = find_specialist(specialist);
  std::size_t position = subtask_position(specialist, subtask);
  bool is_known = known && position < known->subtasks.size();
  return is_known ? known->subtasks[position].title : std::string(subtask);
}

const Specialist* find_specialist(std::string_view name) {
  std::size_t position = specialist_position(name);
  return position < specialists().size() ? &specialists()[position] : nullptr;
}

}  // namespace belay::research
