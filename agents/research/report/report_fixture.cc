#include "agents/research/report/report_fixture.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace belay::research {
namespace {

constexpr std::array<std::string_view, 10> kYearEnds = {
    "2016-09-24", "2017-09-30", "2018-09-29", "2019-09-28", "2020-09-26",
    "2021-09-25", "2022-09-24", "2023-09-30", "2024-09-28", "2025-09-27"};
constexpr std::array<std::string_view, 10> kYearStarts = {
    "2015-09-27", "2016-09-25", "2017-10-01", "2018-09-30", "2019-09-29",
    "2020-09-27", "2021-09-26", "2022-09-25", "2023-10-01", "2024-09-29"};
constexpr std::array<std::string_view, 10> kAccessions = {
    "0001628280-16-020309", "0000320193-17-000070", "0000320193-18-000145", "0000320193-19-000119",
    "0000320193-20-000096", "0000320193-21-000105", "0000320193-22-000108", "0000320193-23-000106",
    "0000320193-24-000123", "0000320193-25-000079"};

using Years = std::array<double, 10>;  // in millions
const std::map<std::string_view, Years>& known_items() {
  static const std::map<std::string_view, Years> kItems = {
      {"revenue", {215639, 229234, 265595, 260174, 274515, 365817, 394328, 383285, 391035, 416161}},
      {"gross_profit",
       {84263, 88186, 101839, 98392, 104956, 152836, 170782, 169148, 180683, 195201}},
      {"operating_income",
       {60024, 61344, 70898, 63930, 66288, 108949, 119437, 114301, 123216, 133050}},
      {"net_income", {45687, 48351, 59531, 55256, 57411, 94680, 99803, 96995, 93736, 112010}},
      {"cfo", {66231, 64225, 77434, 69391, 80674, 104038, 122151, 110543, 118254, 111482}},
      {"capex", {12734, 12451, 13313, 10495, 7309, 11085, 10708, 10959, 9447, 12715}},
      {"assets", {321686, 375319, 365725, 338516, 323888, 351002, 352755, 352583, 364980, 359241}},
      {"equity", {128249, 134047, 107147, 90488, 65339, 63090, 50672, 62146, 56950, 73733}},
      {"buybacks", {29722, 32900, 72738, 66897, 72358, 85971, 89402, 77550, 94949, 90711}},
      {"dividends_paid", {12150, 12769, 13712, 14119, 14081, 14467, 14841, 15025, 15234, 15421}},
      {"current_assets",
       {106869, 128645, 131339, 162819, 143713, 134836, 135405, 143566, 152987, 147957}},
      {"current_liabilities",
       {79006, 100814, 115929, 105718, 105392, 125481, 153982, 145308, 176392, 165631}},
  };
  return kItems;
}

// Numerators and denominators of ratios that the sample computes.
const std::map<std::string_view, std::pair<std::string_view, std::string_view>>& known_ratios() {
  static const std::map<std::string_view, std::pair<std::string_view, std::string_view>> kRatios = {
      {"gross_margin", {"gross_profit", "revenue"}},
      {"operating_margin", {"operating_income", "revenue"}},
      {"net_margin", {"net_income", "revenue"}},
      {"return_on_assets", {"net_income", "assets"}},
      {"return_on_equity", {"net_income", "equity"}},
      {"current_ratio", {"current_assets", "current_liabilities"}},
      {"cfo_to_revenue", {"cfo", "revenue"}},
      {"capex_to_revenue", {"capex", "revenue"}},
      {"cfo_to_net_income", {"cfo", "net_income"}},
      {"payout_ratio", {"dividends_paid", "net_income"}},
  };
  return kRatios;
}

// A number from 0 to 1 that depends on the name and the year only (FNV-1a).
double made_up(std::string_view name, std::size_t year) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  hash = (hash ^ year) * 1099511628211ULL;
  return static_cast<double>((hash >> 20) % 1'000'000) / 1e6;
}

double made_up_value(std::string_view metric, std::string_view unit, std::size_t year) {
  const double level = made_up(metric, 99);
  const double part = 0.75 * level + 0.25 * made_up(metric, year);
  if (metric.starts_with("flag_") || (unit == "count" && metric.starts_with("piotroski_"))) {
    return part > 0.6 ? 1 : 0;
  }
  if (metric.ends_with("_coverage")) return 4 + 30 * part;
  if (metric == "beneish_m_score") return -3.2 + 1.6 * part;
  if (unit == "CUR") return 1e9 * (0.4 + 160 * part);
  if (unit == "CUR/shares") return 0.5 + 9 * part;
  if (unit == "shares") return 1e9 * (14 + 3 * part);
  if (unit == "days") return 8 + 70 * part;
  if (unit == "months") return 12 + 40 * part;
  if (unit == "count") return static_cast<double>(static_cast<int>(1 + 300 * part * part));
  if (unit == "score") return 1 + 8 * part;
  return part * 0.6 - 0.08;
}

Input item_fact(std::string_view item, std::size_t year, double millions) {
  return report_fact("Sample" + std::string(item), std::string(kYearStarts[year]),
                     std::string(kYearEnds[year]), millions * 1e6, std::string(kAccessions[year]));
}

Quantity annual_quantity(std::string_view metric, std::string_view unit, std::size_t year) {
  const auto item = known_items().find(metric);
  if (item != known_items().end()) {
    const double value = item->second[year];
    return Quantity::of(value * 1e6, Inputs(item_fact(metric, year, value)));
  }
  const auto ratio = known_ratios().find(metric);
  if (ratio != known_ratios().end()) {
    const auto& [above, below] = ratio->second;
    const double numerator = known_items().at(above)[year];
    const double denominator = known_items().at(below)[year];
    Inputs inputs(item_fact(above, year, numerator));
    inputs.add(Inputs(item_fact(below, year, denominator)));
    return Quantity::of(numerator / denominator, std::move(inputs));
  }
  if (metric.starts_with("bank_") || metric == "deposits") {
    return Quantity::missing(Missing::not_applicable, "the filer is not a bank");
  }
  if (metric == "retained_earnings" || metric.starts_with("altman_x2")) {
    return Quantity::missing(Missing::missing_input, "retained_earnings");
  }
  if (year == 0 && metric.ends_with("_growth")) {
    return Quantity::missing(Missing::too_little_history, "the year before 2016-09-24");
  }
  Inputs inputs(item_fact(metric, year, made_up(metric, year) * 1e5));
  if (year > 0) inputs.add(Inputs(item_fact(metric, year - 1, made_up(metric, year - 1) * 1e5)));
  inputs.add(Inputs(item_fact("revenue", year, known_items().at("revenue")[year])));
  Quantity quantity = Quantity::of(made_up_value(metric, unit, year), std::move(inputs));
  if (metric == "quick_ratio") quantity.assume_zero("inventory");
  return quantity;
}

std::string unit_of(std::string_view unit) {
  if (!unit.starts_with("CUR")) return std::string(unit);
  return "USD" + std::string(unit.substr(3));
}

// All inputs of the valuation, as each of its figures has them.
Inputs valuation_inputs() {
  Inputs inputs;
  for (std::size_t year = 4; year < kYearEnds.size(); ++year) {
    for (const auto& [item, values] : known_items()) {
      inputs.add(Inputs(item_fact(item, year, values[year])));
    }
  }
  inputs.add(Inputs(Input{"config:equity_risk_premium", {}, {}, 0.05, {}, {}, {}}));
  inputs.add(Inputs(Input{"treasury_10y", {}, "2025-12-01", 4.14, {}, {}, {}}));
  inputs.add(Inputs(Input{"price:AAPL", {}, "2022-12-28", 129.93, {}, {}, {}}));
  return inputs;
}

void add_valuation(Results& results) {
  const Inputs inputs = valuation_inputs();
  const auto add = [&](std::string subtask, std::string metric, double value, std::string unit) {
    results.figures.push_back({"valuation", std::move(subtask), std::move(metric),
                               std::string(kYearEnds.back()), std::move(unit),
                               Quantity::of(value, inputs)});
  };
  double revenue = 416161e6;
  for (int year = 1; year <= 10; ++year) {
    const std::string suffix = (year < 10 ? "_0" : "_") + std::to_string(year);
    const double before = revenue;
    revenue *= 1.087 - 0.006 * year;
    const double nopat = revenue * 0.316 * 0.84;
    const double reinvestment = (revenue - before) / 2.9;
    add("cash_flow_projection", "proj_revenue" + suffix, revenue, "USD");
    add("cash_flow_projection", "proj_ebit" + suffix, revenue * 0.316, "USD");
    add("cash_flow_projection", "proj_nopat" + suffix, nopat, "USD");
    add("cash_flow_projection", "proj_reinvestment" + suffix, reinvestment, "USD");
    add("cash_flow_projection", "proj_fcff" + suffix, nopat - reinvestment, "USD");
  }
  for (const int rate : {-100, -50, 0, 50, 100}) {
    for (const int growth : {-50, -25, 0, 25, 50}) {
      const std::string suffix = "_w" + std::string(rate < 0 ? "" : "+") + std::to_string(rate) +
                                 "_g" + (growth < 0 ? "" : "+") + std::to_string(growth);
      const double value = 1'853'214'578'969.585 * (1 - 0.0014 * rate + 0.0007 * growth);
      add("sensitivity_analysis", "sens_ev" + suffix, value, "USD");
      add("sensitivity_analysis", "sens_value_per_share" + suffix, value / 15.0e9, "USD/shares");
    }
  }
}

double valuation_value(std::string_view metric) {
  static const std::map<std::string_view, double> kValues = {
      {"wacc", 0.1048210394957704},
      {"terminal_growth", 0.025},
      {"enterprise_value", 1'853'214'578'969.585},
      {"equity_value", 1'811'000'000'000.0},
      {"pv_explicit", 771'000'000'000.0},
      {"pv_terminal", 1'082'214'578'969.585},
      {"terminal_value", 2'932'000'000'000.0},
      {"terminal_value_convergence", 2'401'000'000'000.0},
      {"value_per_share", 120.65},
      {"scenario_value_per_share_bear", 81.2},
      {"scenario_value_per_share_base", 120.65},
      {"scenario_value_per_share_bull", 158.4},
  };
  const auto known = kValues.find(metric);
  return known == kValues.end() ? 0 : known->second;
}

Quantity latest_quantity(const SampleMetrics& group, std::string_view metric) {
  if (metric.starts_with("bank_")) {
    return Quantity::missing(Missing::not_applicable, "the filer is not a bank");
  }
  if (group.specialist == "valuation") {
    const double value = valuation_value(metric);
    return Quantity::of(value != 0 ? value : made_up_value(metric, group.unit, 9),
                        valuation_inputs());
  }
  if (metric == "ceo_total_compensation") {
    return Quantity::missing(Missing::missing_input, "PeoTotalCompAmt");
  }
  const bool is_text = group.specialist == "risk_factors" ||
                       group.specialist == "filing_sentiment" || group.subtask == "controls";
  if (is_text) {
    const Input text{"filing-text", {}, {}, 402'113, {}, "10-K", "2024-11-01"};
    return Quantity::of(made_up_value(metric, group.unit, 9), Inputs(text));
  }
  return annual_quantity(metric, group.unit, 9);
}

void add_metrics(Results& results, const SampleMetrics& group) {
  for (const std::string_view metric : report_words_of(group.names)) {
    const auto add = [&](std::string_view period, Quantity quantity) {
      results.figures.push_back({std::string(group.specialist), std::string(group.subtask),
                                 std::string(metric), std::string(period), unit_of(group.unit),
                                 std::move(quantity)});
    };
    if (group.kind == 'L') add(kYearEnds.back(), latest_quantity(group, metric));
    if (group.kind == 'M') add("2025-12-01", latest_quantity(group, metric));
    if (group.kind != 'A' && group.kind != 'F') continue;
    for (std::size_t year = group.kind == 'F' ? 7 : 0; year < kYearEnds.size(); ++year) {
      add(kYearEnds[year], annual_quantity(metric, group.unit, year));
    }
  }
}

void add_peers(Results& results) {
  const auto add = [&](std::string metric, std::string unit, double value) {
    Inputs inputs(item_fact("revenue", 9, known_items().at("revenue")[9]));
    inputs.add(Inputs(
        report_fact("GrossProfit", "2024-07-01", "2025-06-30", 1.9e11, "0000950170-25-100235")));
    results.figures.push_back({"financial", "peer_comparison", std::move(metric),
                               std::string(kYearEnds.back()), std::move(unit),
                               Quantity::of(value, std::move(inputs))});
  };
  for (const std::string metric :
       {"gross_margin", "operating_margin", "net_margin", "return_on_equity", "roic", "fcf_margin",
        "asset_turnover", "current_ratio", "debt_to_equity", "revenue_growth"}) {
    add("peer_median_" + metric, "ratio", made_up(metric, 3));
    add("peer_rank_" + metric, "count", 2);
    add("peer_percentile_" + metric, "ratio", 0.5);
  }
  results.figures.push_back({"financial", "peer_comparison", "peer_count",
                             std::string(kYearEnds.back()), "count", Quantity::of(2)});
}

}  // namespace

Results sample_figures() {
  Results results;
  for (const SampleMetrics& group : sample_metrics()) add_metrics(results, group);
  add_valuation(results);
  add_peers(results);
  return results;
}

Input report_fact(std::string concept_name, std::string start, std::string end, double value,
                  std::string accn) {
  std::string filed = end.substr(0, 4) + "-11-01";
  return {std::move(concept_name), std::move(start), std::move(end),  value,
          std::move(accn),         "10-K",           std::move(filed)};
}

}  // namespace belay::research
