#include "agents/research/report/specialist_names.h"

namespace belay::research::report {
namespace {

constexpr SubtaskName kFinancial[] = {
    {"10k_parsing", "Statements and annual report as filed"},
    {"ratio_calculation", "Ratios"},
    {"peer_comparison", "Peer comparison"},
    {"red_flag_detection", "Red flags"},
};
constexpr SubtaskName kStrategy[] = {
    {"historical_roi", "Returns over the years"},
    {"ma_review", "Acquisitions"},
    {"mgmt_compensation", "Stock compensation"},
    {"capital_allocation_scoring", "Capital allocation score"},
};
constexpr SubtaskName kValuation[] = {
    {"dcf_assumptions", "Assumptions of the cash flow model"},
    {"cash_flow_projection", "Projected cash flows"},
    {"wacc_calculation", "Cost of capital"},
    {"terminal_value", "Terminal value and equity value"},
    {"sensitivity_analysis", "Sensitivity and scenarios"},
};
constexpr SubtaskName kBusinessModel[] = {
    {"business_description", "The business as described"},
    {"cost_structure", "Cost structure"},
    {"cash_cycle", "Cash conversion cycle"},
    {"operating_leverage", "Operating leverage"},
};
constexpr SubtaskName kCompetitivePosition[] = {
    {"margin_durability", "Durability of margins"},
    {"excess_returns", "Returns above the cost of capital"},
    {"reinvestment_intensity", "Reinvestment"},
    {"moat_score", "Moat score"},
};
constexpr SubtaskName kManagementQuality[] = {
    {"capital_stewardship", "Stewardship of capital"},
    {"dilution", "Dilution"},
    {"execution_consistency", "Consistency"},
    {"payout_policy", "Payouts"},
};
constexpr SubtaskName kRiskFactors[] = {
    {"item_1a_extraction", "Item 1A"},
    {"risk_taxonomy", "Risk words by category"},
    {"quantified_risk", "Volatility of results"},
    {"risk_ranking", "Most frequent risks"},
};
constexpr SubtaskName kEarningsQuality[] = {
    {"accruals", "Accruals"},
    {"beneish_m_score", "Beneish M-score"},
    {"piotroski_f_score", "Piotroski F-score"},
    {"cash_conversion", "Cash conversion"},
};
constexpr SubtaskName kGrowth[] = {
    {"historical_growth", "Growth from year to year"},
    {"compound_growth", "Compound growth"},
    {"sustainable_growth", "Sustainable growth"},
    {"growth_stability", "Trend of revenue"},
};
constexpr SubtaskName kCredit[] = {
    {"leverage", "Leverage"},
    {"coverage", "Coverage"},
    {"altman_z_score", "Altman's scores"},
    {"liquidity_runway", "Liquidity"},
};
constexpr SubtaskName kIndustryMacro[] = {
    {"macro_context", "Rates, inflation, market"},
    {"market_sensitivity", "Beta"},
    {"real_growth", "Growth after inflation"},
    {"cycle_position", "The last year against the years before"},
};
constexpr SubtaskName kFilingSentiment[] = {
    {"tokenization", "Words and sentences"},
    {"tone", "Tone"},
    {"readability", "Readability"},
    {"section_tone", "Tone of Items 1A and 7"},
};
constexpr SubtaskName kGovernance[] = {
    {"filing_timeliness", "Timeliness of filings"},
    {"restatements", "Restatements"},
    {"share_structure", "Shares"},
    {"controls", "Internal controls (Item 9A)"},
};

constexpr SpecialistName kSpecialists[] = {
    {"financial", "Financial statements",
     "Statements as filed, ratios, peers, and warning signs computed from them.", kFinancial},
    {"strategy", "Strategy and capital allocation",
     "Returns on the capital used, acquisitions, stock compensation.", kStrategy},
    {"valuation", "Valuation",
     "A cash flow model of the firm; its result follows from the declared assumptions.",
     kValuation},
    {"business_model", "Business model", "Costs, cash cycle, and operating leverage.",
     kBusinessModel},
    {"competitive_position", "Competitive position",
     "The facts have no segments, customers or market shares: the position is measured by its "
     "results.",
     kCompetitivePosition},
    {"management_quality", "Management quality",
     "Growth of assets, dilution, consistency, payouts.", kManagementQuality},
    {"risk_factors", "Risk factors", "Item 1A by word categories, and the volatility of results.",
     kRiskFactors},
    {"earnings_quality", "Earnings quality", "Accruals, M-score, F-score, and cash conversion.",
     kEarningsQuality},
    {"growth", "Growth", "Growth of the past and the growth that retained earnings sustain.",
     kGrowth},
    {"credit", "Credit", "Leverage, coverage, distress scores, liquidity.", kCredit},
    {"industry_macro", "Industry and macro context",
     "Interest rates, inflation, the market, and the company's sensitivity to it.", kIndustryMacro},
    {"filing_sentiment", "Sentiment of the filing",
     "Words of the annual report, counted with this project's own lists.", kFilingSentiment},
    {"governance", "Governance", "Timeliness, restatements, shares, and internal controls.",
     kGovernance},
};

const SpecialistName* known_specialist(std::string_view specialist) {
  const std::size_t position = specialist_position(specialist);
  return position < std::size(kSpecialists) ? &kSpecialists[position] : nullptr;
}

}  // namespace

std::span<const SpecialistName> specialist_names() { return kSpecialists; }

std::size_t specialist_position(std::string_view specialist) {
  std::size_t position = 0;
  while (position < std::size(kSpecialists) && kSpecialists[position].name != specialist) {
    ++position;
  }
  return position;
}

std::size_t subtask_position(std::string_view specialist, std::string_view subtask) {
  const SpecialistName* known = known_specialist(specialist);
  if (known == nullptr) return 0;
  std::size_t position = 0;
  while (position < known->subtasks.size() && known->subtasks[position].name != subtask) {
    ++position;
  }
  return position;
}

std::string specialist_title(std::string_view specialist) {
  const SpecialistName* known = known_specialist(specialist);
  return std::string(known == nullptr ? specialist : known->title);
}

std::string subtask_title(std::string_view specialist, std::string_view subtask) {
  const SpecialistName* known = known_specialist(specialist);
  if (known == nullptr) return std::string(subtask);
  const std::size_t position = subtask_position(specialist, subtask);
  if (position >= known->subtasks.size()) return std::string(subtask);
  return std::string(known->subtasks[position].title);
}

}  // namespace belay::research::report
