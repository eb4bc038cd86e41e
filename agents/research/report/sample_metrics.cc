#include "agents/research/report/report_fixture.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace belay::research {

namespace {

constexpr SampleMetrics kSampleMetrics[] = {
    {"financial", "10k_parsing", 'A', "CUR",
     "revenue cost_of_revenue gross_profit research_and_development sga operating_income "
     "interest_expense pretax_income income_tax net_income depreciation amortization_intangibles "
     "d_and_a share_based_compensation cfo cfi cff capex dividends_paid buybacks acquisitions "
     "income_taxes_paid net_interest_income noninterest_income noninterest_expense "
     "credit_loss_provision assets current_assets cash short_term_investments receivables "
     "inventory ppe goodwill intangibles liabilities current_liabilities payables "
     "deferred_revenue long_term_debt current_debt total_debt minority_interest equity "
     "equity_total retained_earnings deposits public_float"},
    {"financial", "10k_parsing", 'A', "shares", "shares_basic shares_diluted shares_outstanding"},
    {"financial", "10k_parsing", 'A', "CUR/shares", "eps_basic eps_diluted dividends_per_share"},
    {"financial", "10k_parsing", 'L', "count",
     "item_count item_1_words item_1a_words item_7_words item_8_words"},
    {"financial", "ratio_calculation", 'A', "ratio",
     "gross_margin operating_margin net_margin ebitda_margin fcf_margin effective_tax_rate "
     "return_on_assets return_on_equity roic asset_turnover equity_multiplier "
     "dupont_return_on_equity current_ratio quick_ratio cash_ratio receivables_turnover "
     "inventory_turnover payables_turnover debt_to_equity liabilities_to_assets "
     "bank_efficiency_ratio bank_net_interest_share bank_provision_to_revenue "
     "bank_equity_to_assets bank_deposits_to_assets"},
    {"financial", "ratio_calculation", 'A', "CUR", "ebitda fcf nopat invested_capital"},
    {"financial", "ratio_calculation", 'A', "CUR/shares", "book_value_per_share"},
    {"financial", "red_flag_detection", 'F', "count",
     "flag_receivables_outpace_sales flag_inventory_outpace_sales flag_net_loss "
     "flag_negative_operating_cash_flow flag_weak_cash_backing flag_high_accruals "
     "flag_gross_margin_drop flag_operating_margin_drop flag_revenue_decline "
     "flag_negative_equity flag_low_current_ratio flag_high_leverage "
     "flag_low_interest_coverage flag_goodwill_heavy flag_sbc_heavy flag_dilution "
     "flag_unusual_tax_rate flag_payout_exceeds_fcf red_flag_count red_flags_evaluated"},
    {"financial", "red_flag_detection", 'L', "count",
     "phrase_going_concern phrase_substantial_doubt phrase_material_weakness "
     "phrase_not_effective phrase_subpoena phrase_restatement phrase_antitrust "
     "phrase_impairment phrase_related_party phrase_significant_customer"},
    {"strategy", "historical_roi", 'A', "ratio", "roi_roic roi_cash roi_equity"},
    {"strategy", "historical_roi", 'L', "ratio", "roi_roic_mean_10y roi_incremental_5y"},
    {"strategy", "historical_roi", 'M', "ratio",
     "tsr_5y tsr_10y sp500_tsr_5y sp500_tsr_10y tsr_excess_5y tsr_excess_10y"},
    {"strategy", "ma_review", 'A', "ratio",
     "acquisitions_to_revenue acquisitions_to_opening_assets goodwill_to_assets "
     "goodwill_growth"},
    {"strategy", "ma_review", 'L', "ratio", "acquisitions_to_cfo_10y"},
    {"strategy", "ma_review", 'L', "CUR", "acquisitions_sum_10y"},
    {"strategy", "ma_review", 'L', "count", "acquisition_years_10y"},
    {"strategy", "mgmt_compensation", 'A', "ratio",
     "sbc_to_revenue sbc_to_operating_income sbc_to_cfo buybacks_to_sbc"},
    {"strategy", "mgmt_compensation", 'A', "CUR/shares", "sbc_per_diluted_share"},
    {"strategy", "mgmt_compensation", 'L', "CUR", "ceo_total_compensation"},
    {"strategy", "capital_allocation_scoring", 'L', "ratio",
     "allocation_roic_spread_3y allocation_cash_conversion_3y allocation_payout_to_fcf_3y"},
    {"strategy", "capital_allocation_scoring", 'L', "score", "capital_allocation_score"},
    {"valuation", "dcf_assumptions", 'L', "CUR", "base_revenue"},
    {"valuation", "dcf_assumptions", 'L', "ratio",
     "initial_growth terminal_growth target_operating_margin model_tax_rate sales_to_capital"},
    {"valuation", "wacc_calculation", 'L', "ratio",
     "wacc_risk_free_rate wacc_beta cost_of_equity cost_of_debt_pretax cost_of_debt_aftertax "
     "weight_debt weight_equity wacc"},
    {"valuation", "wacc_calculation", 'L', "CUR", "equity_for_weights debt_for_weights"},
    {"valuation", "terminal_value", 'L', "CUR",
     "terminal_fcff terminal_value terminal_value_convergence pv_explicit pv_terminal "
     "enterprise_value equity_value bank_equity_value"},
    {"valuation", "terminal_value", 'L', "CUR/shares", "value_per_share"},
    {"valuation", "terminal_value", 'L', "ratio", "terminal_share bank_justified_price_to_book"},
    {"valuation", "sensitivity_analysis", 'L', "CUR",
     "scenario_ev_bear scenario_ev_base scenario_ev_bull"},
    {"valuation", "sensitivity_analysis", 'L', "CUR/shares",
     "scenario_value_per_share_bear scenario_value_per_share_base "
     "scenario_value_per_share_bull"},
    {"business_model", "business_description", 'L', "count",
     "business_sentences business_distinct_words"},
    {"business_model", "cost_structure", 'A', "ratio",
     "cost_of_revenue_share research_share sga_share d_and_a_share"},
    {"business_model", "cash_cycle", 'A', "days",
     "days_sales_outstanding days_inventory days_payables cash_conversion_cycle"},
    {"business_model", "cash_cycle", 'A', "ratio", "deferred_revenue_share"},
    {"business_model", "operating_leverage", 'A', "ratio",
     "degree_of_operating_leverage incremental_operating_margin ppe_to_revenue"},
    {"competitive_position", "margin_durability", 'L', "ratio",
     "gross_margin_mean_5y gross_margin_sd_5y operating_margin_mean_5y "
     "operating_margin_sd_5y"},
    {"competitive_position", "excess_returns", 'L', "ratio",
     "roic_minus_wacc share_of_years_roic_above_wacc"},
    {"competitive_position", "reinvestment_intensity", 'A', "ratio",
     "capex_to_revenue capex_to_d_and_a research_and_capex_to_revenue"},
    {"competitive_position", "moat_score", 'L', "score", "moat_score"},
    {"management_quality", "capital_stewardship", 'A', "ratio",
     "asset_growth asset_turnover_change roic_change"},
    {"management_quality", "dilution", 'A', "ratio", "net_share_issuance diluted_share_growth"},
    {"management_quality", "dilution", 'L', "ratio", "diluted_share_cagr_3y diluted_share_cagr_5y"},
    {"management_quality", "execution_consistency", 'L', "ratio",
     "share_of_years_revenue_grew share_of_years_operating_income_grew"},
    {"management_quality", "payout_policy", 'A', "ratio",
     "payout_ratio total_payout_ratio total_payout_to_fcf"},
    {"risk_factors", "item_1a_extraction", 'L', "count", "risk_words"},
    {"risk_factors", "item_1a_extraction", 'L', "ratio",
     "risk_share_of_document risk_modal_weak_share"},
    {"risk_factors", "risk_taxonomy", 'L', "count",
     "risk_competition_count risk_supply_chain_count risk_demand_count risk_technology_count "
     "risk_cyber_privacy_count risk_regulation_count risk_litigation_count "
     "risk_geopolitics_trade_count risk_macro_financial_count risk_people_count "
     "risk_climate_disaster_count risk_tax_accounting_count"},
    {"risk_factors", "quantified_risk", 'L', "ratio",
     "revenue_growth_sd_5y return_on_assets_sd_5y cfo_to_revenue_sd_5y"},
    {"risk_factors", "quantified_risk", 'A', "ratio", "cfo_to_revenue"},
    {"risk_factors", "risk_ranking", 'L', "ratio", "risk_concentration_hhi"},
    {"earnings_quality", "accruals", 'A', "ratio", "accruals_cash_flow accruals_balance_sheet"},
    {"earnings_quality", "accruals", 'A', "CUR", "net_operating_assets"},
    {"earnings_quality", "beneish_m_score", 'A', "ratio",
     "beneish_dsri beneish_gmi beneish_aqi beneish_sgi beneish_depi beneish_sgai beneish_lvgi "
     "beneish_tata"},
    {"earnings_quality", "beneish_m_score", 'A', "score", "beneish_m_score"},
    {"earnings_quality", "piotroski_f_score", 'A', "count",
     "piotroski_roa piotroski_cfo piotroski_delta_roa piotroski_accrual "
     "piotroski_delta_leverage piotroski_delta_liquidity piotroski_no_issuance "
     "piotroski_delta_margin piotroski_delta_turnover"},
    {"earnings_quality", "piotroski_f_score", 'A', "score", "piotroski_f_score"},
    {"earnings_quality", "cash_conversion", 'A', "ratio",
     "cfo_to_net_income fcf_to_net_income cash_tax_to_book_tax"},
    {"growth", "historical_growth", 'A', "ratio",
     "revenue_growth operating_income_growth net_income_growth eps_diluted_growth fcf_growth"},
    {"growth", "compound_growth", 'L', "ratio",
     "revenue_cagr_3y revenue_cagr_5y revenue_cagr_10y net_income_cagr_5y eps_diluted_cagr_5y "
     "eps_diluted_cagr_10y fcf_cagr_5y"},
    {"growth", "sustainable_growth", 'A', "ratio", "retention_ratio sustainable_growth_rate"},
    {"growth", "growth_stability", 'L', "ratio", "revenue_trend_growth revenue_trend_r_squared"},
    {"credit", "leverage", 'A', "CUR", "net_debt"},
    {"credit", "leverage", 'A', "ratio", "net_debt_to_ebitda debt_to_capital debt_to_assets"},
    {"credit", "coverage", 'A', "ratio",
     "interest_coverage ebitda_coverage cfo_to_debt fcf_to_debt"},
    {"credit", "altman_z_score", 'A', "ratio",
     "altman_x1 altman_x2 altman_x3 altman_x4_market altman_x4_book altman_x5"},
    {"credit", "altman_z_score", 'A', "score", "altman_z_1968 altman_z2_1995"},
    {"credit", "liquidity_runway", 'A', "CUR", "liquid_funds"},
    {"credit", "liquidity_runway", 'A', "ratio", "liquid_funds_to_current_debt"},
    {"credit", "liquidity_runway", 'A', "months", "runway_months"},
    {"industry_macro", "macro_context", 'M', "ratio",
     "risk_free_rate risk_free_rate_change_12m cpi_inflation_12m sp500_change_12m cape"},
    {"industry_macro", "market_sensitivity", 'M', "ratio", "beta_raw beta_adjusted beta_r_squared"},
    {"industry_macro", "market_sensitivity", 'M', "count", "beta_months"},
    {"industry_macro", "real_growth", 'L', "ratio",
     "real_revenue_cagr_1y real_revenue_cagr_3y real_revenue_cagr_5y"},
    {"industry_macro", "cycle_position", 'L', "score",
     "revenue_growth_z operating_margin_z net_margin_z"},
    {"filing_sentiment", "tokenization", 'L', "count",
     "words_total sentences_total distinct_words"},
    {"filing_sentiment", "tone", 'L', "ratio",
     "negative_share positive_share uncertainty_share litigious_share constraining_share "
     "modal_weak_share modal_strong_share net_tone"},
    {"filing_sentiment", "readability", 'L', "score", "gunning_fog log_file_size"},
    {"filing_sentiment", "readability", 'L', "ratio", "words_per_sentence complex_word_share"},
    {"filing_sentiment", "section_tone", 'L', "ratio",
     "item_1a_negative_share item_1a_positive_share item_1a_uncertainty_share "
     "item_1a_litigious_share item_1a_net_tone item_7_negative_share item_7_positive_share "
     "item_7_uncertainty_share item_7_litigious_share item_7_net_tone"},
    {"governance", "filing_timeliness", 'A', "days", "days_to_annual_filing"},
    {"governance", "restatements", 'A', "count", "restated_items"},
    {"governance", "restatements", 'L', "count", "amended_annual_filings"},
    {"governance", "share_structure", 'A', "ratio",
     "float_to_book basic_to_diluted split_factor_applied"},
    {"governance", "controls", 'L', "count",
     "controls_effective_mentions controls_not_effective_mentions material_weakness_mentions"},
};

}  // namespace

const std::vector<SampleMetrics>& sample_metrics() {
  static const std::vector<SampleMetrics> metrics(std::begin(kSampleMetrics),
                                                  std::end(kSampleMetrics));
  return metrics;
}

std::vector<std::string_view> report_words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

}  // namespace belay::research
