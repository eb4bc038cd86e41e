#include "agents/research/report/metric_labels.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "agents/research/report/report_fixture.h"

namespace belay::research {
namespace {

using report::finding_condition;
using report::finding_label;
using report::is_percentage;
using report::metric_label;

TEST(MetricLabel, NamesBecomeWords) {
  EXPECT_EQ(metric_label("gross_margin"), "Gross margin");
  EXPECT_EQ(metric_label("d_and_a"), "Depreciation and amortization");
  EXPECT_EQ(metric_label("capex_to_d_and_a"),
            "Capital expenditure to depreciation and amortization");
  EXPECT_EQ(metric_label("revenue_cagr_5y"), "Revenue compound growth 5 years");
  EXPECT_EQ(metric_label("sp500_tsr_10y"), "S&P 500 total return 10 years");
  EXPECT_EQ(metric_label("item_1a_negative_share"), "Item 1A: Negative share");
  EXPECT_EQ(metric_label("peer_median_roic"),
            "Median among the peers: Return on invested capital (ROIC)");
  EXPECT_EQ(metric_label("buybacks"), "Share repurchases");
  EXPECT_EQ(metric_label("risk_supply_chain_count"), "Words of risk: Supply chain");
}

TEST(MetricLabel, AProjectedYearAndAStepOfTheSensitivityAreReadable) {
  EXPECT_EQ(metric_label("proj_ebit_03"), "Projected EBIT, year 3");
  EXPECT_EQ(metric_label("proj_revenue_10"), "Projected revenue, year 10");
  EXPECT_EQ(metric_label("sens_ev_w+50_g-25"),
            "Enterprise value, discount rate +50 bp, growth −25 bp");
  EXPECT_EQ(metric_label("sens_value_per_share_w+0_g+0"),
            "Model value per share, discount rate +0 bp, growth +0 bp");
  EXPECT_EQ(metric_label("proj_ebit_total"), "Proj EBIT total");
  EXPECT_EQ(metric_label("proj_01"), "Proj 01");
  EXPECT_EQ(metric_label("sens_g_w"), "Sens g w");
}

TEST(MetricLabel, AnUnknownNameIsReadable) {
  EXPECT_EQ(metric_label("some_new_metric"), "Some new metric");
  EXPECT_EQ(metric_label(""), "");
  EXPECT_EQ(metric_label("__"), "");
}

TEST(MetricLabel, LabelsOfOneSubtaskDiffer) {
  std::map<std::string, std::string_view> metrics;
  for (const SampleMetrics& group : sample_metrics()) {
    for (const std::string_view metric : report_words_of(group.names)) {
      const std::string label = metric_label(metric);
      EXPECT_EQ(label.find('_'), std::string::npos) << label;
      const std::string key =
          std::string(group.specialist) + "." + std::string(group.subtask) + ": " + label;
      const auto [entry, is_new] = metrics.emplace(key, metric);
      EXPECT_TRUE(is_new) << key << " is " << entry->second << " and " << metric;
    }
  }
}

TEST(IsPercentage, MarginsArePercentagesAndMultiplesAreNot) {
  for (const auto* metric : {"gross_margin", "roic", "return_on_equity", "wacc", "revenue_growth",
                             "debt_to_capital", "payout_ratio", "peer_percentile_current_ratio",
                             "peer_median_roic", "negative_share", "risk_free_rate"}) {
    EXPECT_TRUE(is_percentage(metric)) << metric;
  }
  for (const auto* metric :
       {"current_ratio", "inventory_turnover", "interest_coverage", "net_debt_to_ebitda",
        "beneish_dsri", "altman_x4_market", "beta_raw", "beta_r_squared", "cape", "net_tone",
        "item_7_net_tone", "peer_median_current_ratio", "split_factor_applied"}) {
    EXPECT_FALSE(is_percentage(metric)) << metric;
  }
}

TEST(FindingLabel, CodesBecomeWords) {
  EXPECT_EQ(finding_label("receivables_outpace_sales"), "Receivables outpace sales");
  EXPECT_EQ(finding_label("top_risk_supply_chain"), "Frequent risk: Supply chain");
  EXPECT_EQ(finding_label("phrase_going_concern"), "Phrase in the filing: Going concern");
}

TEST(FindingCondition, EveryFlagHasOne) {
  for (const SampleMetrics& group : sample_metrics()) {
    if (group.subtask != "red_flag_detection" || group.kind != 'F') continue;
    for (std::string_view metric : report_words_of(group.names)) {
      if (!metric.starts_with("flag_")) continue;
      metric.remove_prefix(5);
      EXPECT_FALSE(finding_condition(metric).empty()) << metric;
    }
  }
  EXPECT_TRUE(finding_condition("unknown").empty());
}

TEST(ConstantMeaning, EveryConstantOfTheSampleHasOne) {
  for (const ReportConstant& constant : sample_document().constants) {
    EXPECT_FALSE(report::constant_meaning(constant.name).empty()) << constant.name;
  }
  EXPECT_TRUE(report::constant_meaning("unknown").empty());
}

}  // namespace
}  // namespace belay::research
