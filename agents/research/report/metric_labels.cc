#include "agents/research/report/metric_labels.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace belay::research::report {
namespace {

using Name = std::pair<std::string_view, std::string_view>;

// Metrics whose words alone would not be understood.
constexpr Name kMetricLabels[] = {
    {"allocation_cash_conversion_3y", "Cash conversion, 3 years"},
    {"allocation_payout_to_fcf_3y", "Payout to free cash flow, 3 years"},
    {"allocation_roic_spread_3y", "ROIC less WACC, 3 years"},
    {"altman_z2_1995", "Altman Z″ (1995)"},
    {"altman_z_1968", "Altman Z (1968)"},
    {"bank_justified_price_to_book", "Justified price to book (bank)"},
    {"beneish_m_score", "Beneish M-score"},
    {"beta_months", "Months in the beta regression"},
    {"buybacks", "Share repurchases"},
    {"buybacks_to_sbc", "Share repurchases to stock compensation"},
    {"cape", "CAPE of the S&P 500"},
    {"capital_allocation_score", "Capital allocation score (this project's scale)"},
    {"ceo_total_compensation", "Total compensation of the chief executive"},
    {"cff", "Financing cash flow"},
    {"cfi", "Investing cash flow"},
    {"cfo", "Operating cash flow"},
    {"days_to_annual_filing", "Days to the annual filing"},
    {"equity", "Equity of the parent"},
    {"equity_for_weights", "Equity in the WACC weights (public float)"},
    {"debt_for_weights", "Debt in the WACC weights"},
    {"equity_total", "Equity with minority interest"},
    {"fcf", "Free cash flow"},
    {"gunning_fog", "Gunning fog index"},
    {"item_count", "Items found in the annual report"},
    {"log_file_size", "Logarithm of the file size"},
    {"moat_score", "Moat score (this project's scale)"},
    {"piotroski_f_score", "Piotroski F-score"},
    {"roic", "Return on invested capital (ROIC)"},
    {"roi_roic", "Return on invested capital"},
    {"roi_cash", "Cash return on invested capital"},
    {"roi_equity", "Return on equity"},
    {"roi_incremental_5y", "Incremental return, 5 years"},
    {"roi_roic_mean_10y", "ROIC, mean of 10 years"},
    {"roic_minus_wacc", "ROIC less WACC"},
    {"terminal_value_convergence", "Terminal value if returns converge to WACC"},
    {"value_per_share", "Model value per share"},
    {"weight_debt", "Weight of debt"},
    {"weight_equity", "Weight of equity"},
    {"terminal_share", "Share of the terminal value"},
    {"pv_explicit", "Present value of the explicit years"},
    {"pv_terminal", "Present value of the terminal value"},
    {"scenario_ev_bear", "Enterprise value, low case"},
    {"scenario_ev_base", "Enterprise value, base case"},
    {"scenario_ev_bull", "Enterprise value, high case"},
    {"scenario_value_per_share_bear", "Model value per share, low case"},
    {"scenario_value_per_share_base", "Model value per share, base case"},
    {"scenario_value_per_share_bull", "Model value per share, high case"},
    {"wacc_beta", "Beta in the cost of equity"},
    {"wacc_risk_free_rate", "Risk-free rate in the WACC"},
};

// Parts of names, the longer ones first.
constexpr Name kWords[] = {
    {"d_and_a", "depreciation and amortization"},
    {"r_squared", "R²"},
    {"net_debt_to", "net debt to"},
    {"sp500", "S&P 500"},
    {"ebitda", "EBITDA"},
    {"nopat", "NOPAT"},
    {"dupont", "DuPont"},
    {"capex", "capital expenditure"},
    {"buybacks", "share repurchases"},
    {"buyback", "share repurchase"},
    {"sbc", "stock compensation"},
    {"roic", "ROIC"},
    {"roa", "ROA"},
    {"wacc", "WACC"},
    {"fcff", "FCFF"},
    {"ebit", "EBIT"},
    {"fcf", "free cash flow"},
    {"cfo", "operating cash flow"},
    {"sga", "SG&A"},
    {"ppe", "PP&E"},
    {"eps", "EPS"},
    {"tsr", "total return"},
    {"cpi", "CPI"},
    {"hhi", "(Herfindahl index)"},
    {"cagr", "compound growth"},
    {"sd", "standard deviation"},
    {"ev", "enterprise value"},
    {"1y", "1 year"},
    {"3y", "3 years"},
    {"5y", "5 years"},
    {"10y", "10 years"},
    {"12m", "12 months"},
    {"z", "z-score"},
    {"1a", "1A"},
    {"dsri", "DSRI"},
    {"gmi", "GMI"},
    {"aqi", "AQI"},
    {"sgi", "SGI"},
    {"depi", "DEPI"},
    {"sgai", "SGAI"},
    {"lvgi", "LVGI"},
    {"tata", "TATA"},
    {"x1", "X1"},
    {"x2", "X2"},
    {"x3", "X3"},
    {"x4", "X4"},
    {"x5", "X5"},
    {"altman", "Altman"},
    {"beneish", "Beneish"},
    {"piotroski", "Piotroski"},
    {"ai", "AI"},
};

// Metrics with the unit "ratio" that are no percentages.
constexpr std::string_view kMultiples[] = {
    "allocation_cash_conversion_3y",
    "allocation_payout_to_fcf_3y",
    "asset_turnover",
    "asset_turnover_change",
    "bank_justified_price_to_book",
    "basic_to_diluted",
    "beta_adjusted",
    "beta_raw",
    "buybacks_to_sbc",
    "cape",
    "capex_to_d_and_a",
    "cash_ratio",
    "cash_tax_to_book_tax",
    "cfo_to_net_income",
    "current_ratio",
    "debt_to_equity",
    "degree_of_operating_leverage",
    "equity_multiplier",
    "fcf_to_net_income",
    "float_to_book",
    "liquid_funds_to_current_debt",
    "net_debt_to_ebitda",
    "quick_ratio",
    "risk_concentration_hhi",
    "sales_to_capital",
    "split_factor_applied",
    "wacc_beta",
    "words_per_sentence",
};
constexpr std::string_view kMultiplePrefixes[] = {"altman_x", "beneish_"};
constexpr std::string_view kMultipleSuffixes[] = {"_turnover", "_coverage", "net_tone",
                                                  "_r_squared"};

// Replaces a name's parts, which end at an underscore, by words.
std::string in_words(std::string_view name) {
  std::string words;
  while (!name.empty()) {
    const auto known = std::find_if(std::begin(kWords), std::end(kWords), [&](const Name& word) {
      return name.starts_with(word.first) &&
             (name.size() == word.first.size() || name[word.first.size()] == '_');
    });
    const std::size_t length =
        known != std::end(kWords) ? known->first.size() : std::min(name.find('_'), name.size());
    if (!words.empty()) words += ' ';
    words += known != std::end(kWords) ? known->second : name.substr(0, length);
    name.remove_prefix(std::min(length + 1, name.size()));
  }
  if (!words.empty() && words[0] >= 'a' && words[0] <= 'z') {
    words[0] = static_cast<char>(words[0] - 'a' + 'A');
  }
  return words;
}

// "Projected EBIT, year 3" of "proj_ebit_03"; empty for other names.
std::string projection_label(std::string_view metric) {
  constexpr std::string_view kPrefix = "proj_";
  if (!metric.starts_with(kPrefix) || metric.size() < kPrefix.size() + 4) return {};
  std::string_view year = metric.substr(metric.size() - 2);
  if (metric[metric.size() - 3] != '_' ||
      year.find_first_not_of("0123456789") != std::string_view::npos) {
    return {};
  }
  if (year.starts_with('0')) year.remove_prefix(1);
  metric.remove_prefix(kPrefix.size());
  const std::string part(metric.substr(0, metric.size() - 3));
  return in_words("projected_" + part) + ", year " + std::string(year);
}

// "+50 bp" of "+50", with the sign U+2212 of numbers.
std::string step_label(std::string_view step) {
  if (step.empty()) return {};
  return std::string(step.starts_with('-') ? "−" : step.substr(0, 1)) +
         std::string(step.substr(1)) + " bp";
}

// "Enterprise value, discount rate +50 bp, growth −25 bp" of "sens_ev_w+50_g-25"; empty for other
// names.
std::string sensitivity_label(std::string_view metric) {
  constexpr std::string_view kPrefix = "sens_";
  const std::size_t rate = metric.rfind("_w");
  const std::size_t growth = metric.rfind("_g");
  if (!metric.starts_with(kPrefix) || rate == std::string_view::npos ||
      growth == std::string_view::npos || rate < kPrefix.size() || growth < rate + 2) {
    return {};
  }
  const std::string_view value = metric.substr(kPrefix.size(), rate - kPrefix.size());
  if (value != "ev" && value != "value_per_share") return {};
  const std::string label = value == "ev" ? "Enterprise value" : "Model value per share";
  return label + ", discount rate " + step_label(metric.substr(rate + 2, growth - rate - 2)) +
         ", growth " + step_label(metric.substr(growth + 2));
}

}  // namespace

std::string metric_label(std::string_view metric) {
  const auto* known = std::find_if(std::begin(kMetricLabels), std::end(kMetricLabels),
                                   [&](const Name& label) { return label.first == metric; });
  if (known != std::end(kMetricLabels)) return std::string(known->second);
  if (metric.starts_with("peer_")) {
    for (const std::string_view kind : {"median_", "rank_", "percentile_"}) {
      if (!metric.substr(5).starts_with(kind)) continue;
      const std::string of = in_words(kind) + " among the peers: ";
      return of + metric_label(metric.substr(5 + kind.size()));
    }
  }
  for (const std::string_view prefix : {"item_1a_", "item_1_", "item_7_", "item_8_"}) {
    if (!metric.starts_with(prefix)) continue;
    return "Item " + in_words(prefix.substr(5, prefix.size() - 6)) + ": " +
           in_words(metric.substr(prefix.size()));
  }
  if (const std::string label = projection_label(metric); !label.empty()) return label;
  if (const std::string label = sensitivity_label(metric); !label.empty()) return label;
  if (metric.starts_with("risk_") && metric.ends_with("_count")) {
    return "Words of risk: " + in_words(metric.substr(5, metric.size() - 11));
  }
  if (metric.starts_with("flag_")) return "Flag: " + finding_label(metric.substr(5));
  if (metric.starts_with("phrase_")) return finding_label(metric);
  return in_words(metric);
}

bool is_percentage(std::string_view metric) {
  if (metric.starts_with("peer_median_")) return is_percentage(metric.substr(12));
  const auto is_suffix = [&](std::string_view text) { return metric.ends_with(text); };
  const auto is_prefix = [&](std::string_view text) { return metric.starts_with(text); };
  return std::find(std::begin(kMultiples), std::end(kMultiples), metric) == std::end(kMultiples) &&
         std::none_of(std::begin(kMultiplePrefixes), std::end(kMultiplePrefixes), is_prefix) &&
         std::none_of(std::begin(kMultipleSuffixes), std::end(kMultipleSuffixes), is_suffix);
}

std::string finding_label(std::string_view code) {
  if (code == "inventory_outpace_sales") return "Inventory outpaces sales";
  if (code == "restated") return "Restated items";
  if (code.starts_with("top_risk_")) return "Frequent risk: " + in_words(code.substr(9));
  if (code.starts_with("phrase_")) return "Phrase in the filing: " + in_words(code.substr(7));
  return in_words(code);
}

}  // namespace belay::research::report
