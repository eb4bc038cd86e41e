#include "agents/research/report/report_charts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "agents/research/report/metric_labels.h"
#include "agents/research/report/readable_number.h"

namespace belay::research::report {
namespace {

struct ChartMetric {
  std::string_view specialist;
  std::string_view metric;
};

struct ChartPlan {
  std::string_view specialist;  // in whose section the chart is
  ChartKind kind = ChartKind::lines;
  std::string_view title;
  std::array<ChartMetric, 4> metrics = {};
  std::string_view threshold_label = {};  // empty: no threshold
  double threshold = 0;
};

constexpr ChartPlan kPlans[] = {
    {"financial",
     ChartKind::columns,
     "Revenue and income",
     {{{"financial", "revenue"}, {"financial", "operating_income"}, {"financial", "net_income"}}}},
    {"financial",
     ChartKind::lines,
     "Margins",
     {{{"financial", "gross_margin"},
       {"financial", "operating_margin"},
       {"financial", "net_margin"},
       {"financial", "fcf_margin"}}}},
    {"financial",
     ChartKind::lines,
     "Returns",
     {{{"financial", "roic"},
       {"financial", "return_on_equity"},
       {"financial", "return_on_assets"}}}},
    {"financial",
     ChartKind::lines,
     "Ratios of a bank",
     {{{"financial", "bank_efficiency_ratio"},
       {"financial", "bank_net_interest_share"},
       {"financial", "bank_equity_to_assets"},
       {"financial", "bank_provision_to_revenue"}}}},
    {"strategy",
     ChartKind::columns,
     "Uses of cash",
     {{{"financial", "capex"},
       {"financial", "acquisitions"},
       {"financial", "dividends_paid"},
       {"financial", "buybacks"}}}},
    {"strategy",
     ChartKind::lines,
     "Return on invested capital, and in cash",
     {{{"strategy", "roi_roic"}, {"strategy", "roi_cash"}}}},
    {"business_model",
     ChartKind::lines,
     "Cash conversion cycle (days)",
     {{{"business_model", "cash_conversion_cycle"},
       {"business_model", "days_sales_outstanding"},
       {"business_model", "days_inventory"},
       {"business_model", "days_payables"}}}},
    {"business_model",
     ChartKind::lines,
     "Costs as shares of revenue",
     {{{"business_model", "cost_of_revenue_share"},
       {"business_model", "research_share"},
       {"business_model", "sga_share"},
       {"business_model", "d_and_a_share"}}}},
    {"competitive_position",
     ChartKind::lines,
     "Reinvestment",
     {{{"competitive_position", "capex_to_revenue"},
       {"competitive_position", "research_and_capex_to_revenue"}}}},
    {"management_quality",
     ChartKind::columns,
     "Growth of assets and of diluted shares",
     {{{"management_quality", "asset_growth"}, {"management_quality", "diluted_share_growth"}}}},
    {"management_quality",
     ChartKind::columns,
     "Payouts as shares of net income",
     {{{"management_quality", "payout_ratio"}, {"management_quality", "total_payout_ratio"}}}},
    {"risk_factors",
     ChartKind::lines,
     "Operating cash flow to revenue",
     {{{"risk_factors", "cfo_to_revenue"}}}},
    {"earnings_quality",
     ChartKind::lines,
     "Beneish M-score",
     {{{"earnings_quality", "beneish_m_score"}}},
     "threshold −1.78",
     -1.78},
    {"earnings_quality",
     ChartKind::columns,
     "Piotroski F-score",
     {{{"earnings_quality", "piotroski_f_score"}}}},
    {"earnings_quality",
     ChartKind::lines,
     "Accruals to average assets",
     {{{"earnings_quality", "accruals_cash_flow"}}}},
    {"growth",
     ChartKind::columns,
     "Growth from year to year",
     {{{"growth", "revenue_growth"},
       {"growth", "net_income_growth"},
       {"growth", "eps_diluted_growth"}}}},
    {"credit", ChartKind::lines, "Net debt to EBITDA", {{{"credit", "net_debt_to_ebitda"}}}},
    {"credit",
     ChartKind::lines,
     "Coverage of interest",
     {{{"credit", "interest_coverage"}, {"credit", "ebitda_coverage"}}}},
    {"credit",
     ChartKind::lines,
     "Altman Z (1968)",
     {{{"credit", "altman_z_1968"}}},
     "distress below 1.81",
     1.81},
    {"credit",
     ChartKind::lines,
     "Altman Z″ (1995)",
     {{{"credit", "altman_z2_1995"}}},
     "distress below 1.10",
     1.10},
    {"governance",
     ChartKind::columns,
     "Days from the year end to the annual filing",
     {{{"governance", "days_to_annual_filing"}}}},
};

constexpr KeyMetric kKeyMetrics[] = {
    {"financial", "revenue"},
    {"financial", "gross_margin"},
    {"financial", "operating_margin"},
    {"financial", "net_income"},
    {"financial", "net_margin"},
    {"financial", "return_on_equity"},
    {"financial", "roic"},
    {"financial", "fcf"},
    {"financial", "current_ratio"},
    {"financial", "bank_efficiency_ratio"},
    {"financial", "bank_equity_to_assets"},
    {"strategy", "acquisitions_to_revenue"},
    {"strategy", "goodwill_to_assets"},
    {"strategy", "sbc_to_revenue"},
    {"business_model", "cash_conversion_cycle"},
    {"business_model", "incremental_operating_margin"},
    {"competitive_position", "capex_to_revenue"},
    {"competitive_position", "research_and_capex_to_revenue"},
    {"management_quality", "asset_growth"},
    {"management_quality", "diluted_share_growth"},
    {"management_quality", "total_payout_ratio"},
    {"risk_factors", "cfo_to_revenue"},
    {"earnings_quality", "accruals_cash_flow"},
    {"earnings_quality", "beneish_m_score"},
    {"earnings_quality", "piotroski_f_score"},
    {"earnings_quality", "cfo_to_net_income"},
    {"growth", "revenue_growth"},
    {"growth", "eps_diluted_growth"},
    {"growth", "sustainable_growth_rate"},
    {"credit", "net_debt_to_ebitda"},
    {"credit", "debt_to_capital"},
    {"credit", "interest_coverage"},
    {"credit", "altman_z_1968"},
    {"credit", "altman_z2_1995"},
    {"governance", "days_to_annual_filing"},
    {"governance", "restated_items"},
};

constexpr KeyMetric kSummaryMetrics[] = {
    {"financial", "revenue"},
    {"financial", "net_income"},
    {"financial", "operating_margin"},
    {"financial", "return_on_equity"},
    {"financial", "roic"},
    {"financial", "fcf"},
    {"financial", "bank_efficiency_ratio"},
    {"financial", "bank_equity_to_assets"},
    {"growth", "revenue_cagr_5y"},
    {"credit", "net_debt_to_ebitda"},
    {"earnings_quality", "piotroski_f_score"},
    {"valuation", "wacc"},
    {"valuation", "value_per_share"},
    {"valuation", "bank_equity_value"},
    {"strategy", "capital_allocation_score"},
    {"competitive_position", "moat_score"},
};

std::optional<ChartPoint> chart_point(const FigureIndex& index,
                                      std::optional<FigureNumber> number) {
  if (!number || !index.figure(*number).quantity.is_available()) return std::nullopt;
  const Figure& figure = index.figure(*number);
  return ChartPoint{figure.quantity.value(), shown_value(figure), FigureIndex::anchor(*number)};
}

// "2025-09" of "2025-09-27".
std::string month_of(std::string_view date) { return std::string(date.substr(0, 7)); }

Chart chart_of(const FigureIndex& index, const ChartPlan& plan, std::string id) {
  const auto& years = index.document().fiscal_years;
  Chart chart;
  chart.id = std::move(id);
  chart.kind = plan.kind;
  chart.title = plan.title;
  for (const std::string& year : years) chart.categories.push_back(month_of(year));
  for (const ChartMetric& metric : plan.metrics) {
    const auto row = index.row(metric.specialist, metric.metric, years);
    if (!row) continue;
    ChartSeries series{metric_label(metric.metric), {}};
    for (const auto& cell : row->cells) series.points.push_back(chart_point(index, cell));
    if (chart.series.empty()) {
      chart.unit = row->unit;
      chart.as_percentage = is_percentage(row->metric);
    }
    const bool is_empty = std::none_of(series.points.begin(), series.points.end(),
                                       [](const auto& point) { return point.has_value(); });
    if (!is_empty) chart.series.push_back(std::move(series));
  }
  if (!plan.threshold_label.empty()) {
    chart.threshold = ChartThreshold{plan.threshold, std::string(plan.threshold_label)};
  }
  return chart;
}

void add_bar(const FigureIndex& index, std::string_view specialist, std::string_view metric,
             std::string label, BarChart& chart) {
  if (auto point = chart_point(index, index.latest(specialist, metric))) {
    chart.bars.push_back({std::move(label), std::move(*point)});
  }
}

}  // namespace

std::vector<Chart> charts_of(const FigureIndex& index, std::string_view specialist) {
  std::vector<Chart> charts;
  for (std::size_t i = 0; i < std::size(kPlans); ++i) {
    if (kPlans[i].specialist != specialist) continue;
    Chart chart = chart_of(index, kPlans[i], "chart-" + std::to_string(i));
    if (is_worth_drawing(chart)) charts.push_back(std::move(chart));
  }
  return charts;
}

std::vector<Chart> projection_charts(const FigureIndex& index) {
  Chart chart;
  chart.id = "chart-projection";
  chart.kind = ChartKind::columns;
  chart.title = "NOPAT, reinvestment, and free cash flow of the firm (FCFF)";
  for (const std::string_view part : {"nopat", "reinvestment", "fcff"}) {
    ChartSeries series{metric_label(part), {}};
    for (int year = 1; year <= 10; ++year) {
      std::string metric = "proj_" + std::string(part) + (year < 10 ? "_0" : "_");
      metric += std::to_string(year);
      const auto number = index.latest("valuation", metric);
      if (number) chart.unit = index.figure(*number).unit;
      series.points.push_back(chart_point(index, number));
    }
    chart.series.push_back(std::move(series));
  }
  for (int year = 1; year <= 10; ++year) {
    chart.categories.push_back("year " + std::to_string(year));
  }
  if (!is_worth_drawing(chart)) return {};
  return {std::move(chart)};
}

std::vector<BarChart> bar_charts_of(const FigureIndex& index, std::string_view specialist) {
  BarChart chart;
  if (specialist == "risk_factors") {
    chart.id = "chart-risks";
    chart.title = "Words of Item 1A by risk category";
    for (const std::string_view category :
         {"competition", "supply_chain", "demand", "technology", "cyber_privacy", "regulation",
          "litigation", "geopolitics_trade", "macro_financial", "people", "climate_disaster",
          "tax_accounting"}) {
      const std::string metric = "risk_" + std::string(category) + "_count";
      add_bar(index, specialist, metric, metric_label(category), chart);
    }
  } else if (specialist == "filing_sentiment") {
    chart.id = "chart-tone";
    chart.title = "Shares of the annual report's words by list";
    for (const std::string_view list : {"negative", "positive", "uncertainty", "litigious",
                                        "constraining", "modal_weak", "modal_strong"}) {
      const std::string metric = std::string(list) + "_share";
      add_bar(index, specialist, metric, metric_label(list), chart);
    }
  }
  if (chart.bars.empty()) return {};
  return {std::move(chart)};
}

std::span<const KeyMetric> key_metrics() { return kKeyMetrics; }

std::span<const KeyMetric> summary_metrics() { return kSummaryMetrics; }

std::string shown_value(const Figure& figure) {
  if (!figure.quantity.is_available()) return "n/a";
  return readable_number(figure.quantity.value(), figure.unit, is_percentage(figure.metric));
}

}  // namespace belay::research::report
