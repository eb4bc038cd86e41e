#include "tests/research/properties/expected_metrics.h"

#include <sstream>

namespace belay::research {
namespace {

constexpr int kAnnual = 10;
constexpr int kLastThree = 3;
constexpr int kLatest = 1;

// "peer_{rank,median}_roic" is a name for each of the words in braces.
struct MetricNames {
  const char* subtask;
  int years;
  const char* names;
};

constexpr MetricNames kMetricNames[] = {
    {"business_model.business_description", kLatest, "business_distinct_words business_sentences"},
    {"business_model.cash_cycle", kAnnual,
     "cash_conversion_cycle days_inventory days_payables days_sales_outstanding "
     "deferred_revenue_share"},
    {"business_model.cost_structure", kAnnual,
     "cost_of_revenue_share d_and_a_share research_share sga_share"},
    {"business_model.operating_leverage", kAnnual,
     "degree_of_operating_leverage incremental_operating_margin ppe_to_revenue"},
    {"competitive_position.excess_returns", kLatest,
     "roic_minus_wacc share_of_years_roic_above_wacc"},
    {"competitive_position.margin_durability", kLatest,
     "gross_margin_mean_5y gross_margin_sd_5y operating_margin_mean_5y "
     "operating_margin_sd_5y"},
    {"competitive_position.moat_score", kLatest, "moat_score"},
    {"competitive_position.reinvestment_intensity", kAnnual,
     "capex_to_d_and_a capex_to_revenue research_and_capex_to_revenue"},
    {"credit.altman_z_score", kAnnual,
     "altman_x1 altman_x2 altman_x3 altman_x4_book altman_x4_market altman_x5 "
     "altman_z2_1995 altman_z_1968"},
    {"credit.coverage", kAnnual, "cfo_to_debt ebitda_coverage fcf_to_debt interest_coverage"},
    {"credit.leverage", kAnnual, "debt_to_assets debt_to_capital net_debt net_debt_to_ebitda"},
    {"credit.liquidity_runway", kAnnual, "liquid_funds liquid_funds_to_current_debt runway_months"},
    {"earnings_quality.accruals", kAnnual,
     "accruals_balance_sheet accruals_cash_flow net_operating_assets"},
    {"earnings_quality.beneish_m_score", kAnnual,
     "beneish_aqi beneish_depi beneish_dsri beneish_gmi beneish_lvgi beneish_m_score "
     "beneish_sgai beneish_sgi beneish_tata"},
    {"earnings_quality.cash_conversion", kAnnual,
     "cash_tax_to_book_tax cfo_to_net_income fcf_to_net_income"},
    {"earnings_quality.piotroski_f_score", kAnnual,
     "piotroski_accrual piotroski_cfo piotroski_delta_leverage piotroski_delta_liquidity "
     "piotroski_delta_margin piotroski_delta_roa piotroski_delta_turnover piotroski_f_score "
     "piotroski_no_issuance piotroski_roa"},
    {"filing_sentiment.readability", kLatest,
     "complex_word_share gunning_fog log_file_size words_per_sentence"},
    {"filing_sentiment.section_tone", kLatest,
     "item_{1a,7}_{negative,positive,uncertainty,litigious}_share item_{1a,7}_net_tone"},
    {"filing_sentiment.tokenization", kLatest, "distinct_words sentences_total words_total"},
    {"filing_sentiment.tone", kLatest,
     "{negative,positive,uncertainty,litigious,constraining,modal_weak,modal_strong}_share "
     "net_tone"},
    {"financial.10k_parsing", kAnnual,
     "acquisitions amortization_intangibles assets buybacks capex cash cff cfi cfo "
     "cost_of_revenue credit_loss_provision current_assets current_debt current_liabilities "
     "d_and_a deferred_revenue deposits depreciation dividends_paid dividends_per_share "
     "eps_basic eps_diluted equity equity_total goodwill gross_profit income_tax "
     "income_taxes_paid intangibles interest_expense inventory liabilities long_term_debt "
     "minority_interest net_income net_interest_income noninterest_expense "
     "noninterest_income operating_income payables ppe pretax_income public_float "
     "receivables research_and_development retained_earnings revenue sga "
     "share_based_compensation shares_basic shares_diluted shares_outstanding "
     "short_term_investments total_debt"},
    {"financial.10k_parsing", kLatest,
     "item_1_words item_1a_words item_7_words item_8_words item_count"},
    {"financial.peer_comparison", kLatest,
     "peer_count peer_{median,rank,percentile}_{gross_margin,operating_margin,net_margin,"
     "return_on_equity,roic,fcf_margin,asset_turnover,current_ratio,debt_to_equity,"
     "revenue_growth}"},
    {"financial.ratio_calculation", kAnnual,
     "asset_turnover bank_deposits_to_assets bank_efficiency_ratio bank_equity_to_assets "
     "bank_net_interest_share bank_provision_to_revenue book_value_per_share cash_ratio "
     "current_ratio debt_to_equity dupont_return_on_equity ebitda ebitda_margin "
     "effective_tax_rate equity_multiplier fcf fcf_margin gross_margin inventory_turnover "
     "invested_capital liabilities_to_assets net_margin nopat operating_margin "
     "payables_turnover quick_ratio receivables_turnover return_on_assets return_on_equity "
     "roic"},
    {"financial.red_flag_detection", kLastThree,
     "red_flag_count red_flags_evaluated flag_{receivables_outpace_sales,"
     "inventory_outpace_sales,net_loss,negative_operating_cash_flow,weak_cash_backing,"
     "high_accruals,gross_margin_drop,operating_margin_drop,revenue_decline,negative_equity,"
     "low_current_ratio,high_leverage,low_interest_coverage,goodwill_heavy,sbc_heavy,"
     "dilution,unusual_tax_rate,payout_exceeds_fcf}"},
    {"financial.red_flag_detection", kLatest,
     "phrase_{going_concern,substantial_doubt,material_weakness,not_effective,subpoena,"
     "restatement,antitrust,impairment,related_party,significant_customer}"},
    {"governance.controls", kLatest,
     "controls_effective_mentions controls_not_effective_mentions material_weakness_mentions"},
    {"governance.filing_timeliness", kAnnual, "days_to_annual_filing"},
    {"governance.restatements", kLatest, "amended_annual_filings"},
    {"governance.restatements", kAnnual, "restated_items"},
    {"governance.share_structure", kAnnual, "basic_to_diluted float_to_book split_factor_applied"},
    {"growth.compound_growth", kLatest,
     "eps_diluted_cagr_10y eps_diluted_cagr_5y fcf_cagr_5y net_income_cagr_5y "
     "revenue_cagr_10y revenue_cagr_3y revenue_cagr_5y"},
    {"growth.growth_stability", kLatest, "revenue_trend_growth revenue_trend_r_squared"},
    {"growth.historical_growth", kAnnual,
     "eps_diluted_growth fcf_growth net_income_growth operating_income_growth revenue_growth"},
    {"growth.sustainable_growth", kAnnual, "retention_ratio sustainable_growth_rate"},
    {"industry_macro.cycle_position", kLatest, "net_margin_z operating_margin_z revenue_growth_z"},
    {"industry_macro.macro_context", kLatest,
     "cape cpi_inflation_12m risk_free_rate risk_free_rate_change_12m sp500_change_12m"},
    {"industry_macro.market_sensitivity", kLatest,
     "beta_adjusted beta_months beta_r_squared beta_raw"},
    {"industry_macro.real_growth", kLatest,
     "real_revenue_cagr_1y real_revenue_cagr_3y real_revenue_cagr_5y"},
    {"management_quality.capital_stewardship", kAnnual,
     "asset_growth asset_turnover_change roic_change"},
    {"management_quality.dilution", kLatest, "diluted_share_cagr_3y diluted_share_cagr_5y"},
    {"management_quality.dilution", kAnnual, "diluted_share_growth net_share_issuance"},
    {"management_quality.execution_consistency", kLatest,
     "share_of_years_operating_income_grew share_of_years_revenue_grew"},
    {"management_quality.payout_policy", kAnnual,
     "payout_ratio total_payout_ratio total_payout_to_fcf"},
    {"risk_factors.item_1a_extraction", kLatest,
     "risk_modal_weak_share risk_share_of_document risk_words"},
    {"risk_factors.quantified_risk", kAnnual, "cfo_to_revenue"},
    {"risk_factors.quantified_risk", kLatest,
     "cfo_to_revenue_sd_5y return_on_assets_sd_5y revenue_growth_sd_5y"},
    {"risk_factors.risk_ranking", kLatest, "risk_concentration_hhi"},
    {"risk_factors.risk_taxonomy", kLatest,
     "risk_{competition,supply_chain,demand,technology,cyber_privacy,regulation,litigation,"
     "geopolitics_trade,macro_financial,people,climate_disaster,tax_accounting}_count"},
    {"strategy.capital_allocation_scoring", kLatest,
     "allocation_cash_conversion_3y allocation_payout_to_fcf_3y allocation_roic_spread_3y "
     "capital_allocation_score"},
    {"strategy.historical_roi", kAnnual, "roi_cash roi_equity roi_roic"},
    {"strategy.historical_roi", kLatest,
     "roi_incremental_5y roi_roic_mean_10y sp500_tsr_10y sp500_tsr_5y tsr_10y tsr_5y "
     "tsr_excess_10y tsr_excess_5y"},
    {"strategy.ma_review", kLatest,
     "acquisition_years_10y acquisitions_sum_10y acquisitions_to_cfo_10y"},
    {"strategy.ma_review", kAnnual,
     "acquisitions_to_opening_assets acquisitions_to_revenue goodwill_growth "
     "goodwill_to_assets"},
    {"strategy.mgmt_compensation", kAnnual,
     "buybacks_to_sbc sbc_per_diluted_share sbc_to_cfo sbc_to_operating_income "
     "sbc_to_revenue"},
    {"strategy.mgmt_compensation", kLatest, "ceo_total_compensation"},
    {"valuation.cash_flow_projection", kLatest,
     "proj_{revenue,ebit,nopat,reinvestment,fcff}_{01,02,03,04,05,06,07,08,09,10}"},
    {"valuation.dcf_assumptions", kLatest,
     "base_revenue initial_growth model_tax_rate sales_to_capital target_operating_margin "
     "terminal_growth"},
    {"valuation.sensitivity_analysis", kLatest,
     "sens_{ev,value_per_share}_w{-100,-50,+0,+50,+100}_g{-50,-25,+0,+25,+50} scenario_{ev,"
     "value_per_share}_{bear,base,bull}"},
    {"valuation.terminal_value", kLatest,
     "bank_equity_value bank_justified_price_to_book enterprise_value equity_value "
     "pv_explicit pv_terminal terminal_fcff terminal_share terminal_value "
     "terminal_value_convergence value_per_share"},
    {"valuation.wacc_calculation", kLatest,
     "cost_of_debt_aftertax cost_of_debt_pretax cost_of_equity debt_for_weights "
     "equity_for_weights wacc wacc_beta wacc_risk_free_rate weight_debt weight_equity"},
};

void expand_name(const std::string& name, const MetricNames& group,
                 std::vector<ExpectedMetric>& metrics) {
  const std::size_t open = name.find('{');
  if (open == std::string::npos) {
    metrics.push_back({group.subtask, name, group.years});
    return;
  }
  const std::size_t close = name.find('}', open);
  std::istringstream words(name.substr(open + 1, close - open - 1));
  for (std::string word; std::getline(words, word, ',');) {
    expand_name(name.substr(0, open) + word + name.substr(close + 1), group, metrics);
  }
}

std::vector<ExpectedMetric> all_expected_metrics() {
  std::vector<ExpectedMetric> metrics;
  for (const MetricNames& group : kMetricNames) {
    std::istringstream names(group.names);
    for (std::string name; names >> name;) expand_name(name, group, metrics);
  }
  return metrics;
}

}  // namespace

const std::vector<ExpectedMetric>& expected_metrics() {
  static const std::vector<ExpectedMetric> all = all_expected_metrics();
  return all;
}

}  // namespace belay::research
