#pragma once
// agents/research/graph/graph_fixture.h - results of an analysis with all kinds of rows, for tests.

#include <string>

#include "agents/research/graph/graph_rows.h"

namespace belay::research {

// A quote with all characters that a string literal could break on.
inline std::string awkward_quote() {
  return "It\x27s \"not effective\" \\u0041 \\ \\' // ;\n\ttab\r\n$x `y` {z} \xC3\xA9 "
         "\xF0\x9F\x98\x80";
}

inline Inputs input_of(Input input) { return Inputs(std::move(input)); }

inline Inputs fact(const std::string& tag, const std::string& start, const std::string& end,
                   double value, const std::string& accn, const std::string& filed) {
  return input_of({.concept_name = tag,
                   .start = start,
                   .end = end,
                   .value = value,
                   .accn = accn,
                   .form = "10-K",
                   .filed = filed});
}

inline GraphSubject sample_subject() {
  GraphSubject subject;
  subject.analysis_id = "analysis-1";
  subject.company = {"0000320193", "AAPL", "Apple Inc."};
  subject.as_of = "2026-01-30";
  subject.currency = "USD";
  subject.fiscal_years = {"2024-09-28", "2025-09-27"};
  subject.filings = {{"0000320193-25-000079", "10-K", "2025-10-31"},
                     {"0000320193-25-000057", "10-Q", "2025-05-02"}};
  subject.text = GraphFiling{"0000320193-24-000123", "10-K", "2024-11-01"};
  subject.peers = {{"0000789019", "MSFT", "MICROSOFT CORP"}};
  return subject;
}

inline Figure sample_figure(const std::string& specialist, const std::string& subtask,
                            const std::string& metric, const std::string& period_end,
                            const std::string& unit, Quantity quantity) {
  return {specialist, subtask, metric, period_end, unit, std::move(quantity)};
}

inline std::vector<Figure> sample_figures() {
  constexpr const char* k25 = "0000320193-25-000079";
  constexpr const char* k24 = "0000320193-24-000123";
  Inputs margin = fact("GrossProfit", "2024-09-29", "2025-09-27", 195201000000, k25, "2025-10-31");
  margin.add(fact("Revenues", "2024-09-29", "2025-09-27", 416161000000, k25, "2025-10-31"));
  Inputs growth = fact("Revenues", "2024-09-29", "2025-09-27", 416161000000, k25, "2025-10-31");
  growth.add(fact("Revenues", "2023-10-01", "2024-09-28", 391035000000, k24, "2024-11-01"));
  Inputs beta = input_of({.concept_name = "price:AAPL", .end = "2018-01-31", .value = 39.5});
  beta.add(input_of({.concept_name = "config:beta_months", .value = 60}));
  Inputs words = input_of(
      {.concept_name = "filing-text", .value = 207500, .form = "10-K", .filed = "2024-11-01"});
  Inputs peers = fact("Revenues", "2024-07-01", "2025-06-30", 281724000000, "0000950170-25-100235",
                      "2025-07-30");
  Quantity debt = Quantity::of(
      90678000000, fact("LongTermDebt", "", "2025-09-27", 90678000000, k25, "2025-10-31"));
  debt.assume_zero("current_debt");
  debt.assume_zero("minority_interest");
  return {
      sample_figure("financial", "ratio_calculation", "gross_margin", "2025-09-27", "ratio",
                    Quantity::of(195201000000.0 / 416161000000.0, margin)),
      sample_figure("growth", "historical_growth", "revenue_growth", "2025-09-27", "ratio",
                    Quantity::of(416161000000.0 / 391035000000.0 - 1, growth)),
      sample_figure("credit", "coverage", "interest_coverage", "2025-09-27", "ratio",
                    Quantity::missing(Missing::missing_input, "interest_expense")),
      sample_figure("credit", "leverage", "total_debt", "2025-09-27", "USD", debt),
      sample_figure("industry_macro", "market_sensitivity", "beta_raw", "2022-12-28", "ratio",
                    Quantity::of(1.4585285252293487, beta)),
      sample_figure("filing_sentiment", "tokenization", "words_total", "2024-09-28", "count",
                    Quantity::of(31234, words)),
      sample_figure("financial", "peer_comparison", "peer_median_net_margin", "2025-09-27", "ratio",
                    Quantity::of(0.36, peers)),
      sample_figure("financial", "red_flag_detection", "flag_low_current_ratio", "2025-09-27",
                    "count", Quantity::of(1, margin)),
  };
}

inline Results sample_results() {
  Results results;
  results.figures = sample_figures();
  Finding ratio;
  ratio.specialist = "financial";
  ratio.subtask = "red_flag_detection";
  ratio.code = "low_current_ratio";
  ratio.severity = Severity::medium;
  ratio.period_end = "2025-09-27";
  ratio.metric = "flag_low_current_ratio";
  Finding weakness;
  weakness.specialist = "governance";
  weakness.subtask = "controls";
  weakness.code = "control_weakness_disclosed";
  weakness.severity = Severity::high;
  weakness.period_end = "2024-09-28";
  weakness.quote = awkward_quote();
  weakness.item = "9A";
  weakness.offset = 184467;
  results.findings = {ratio, weakness};
  return results;
}

}  // namespace belay::research
