#pragma once
// agents/research/report/report_charts.h - the charts of each specialist's section.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/report/figure_index.h"
#include "agents/research/report/svg_charts.h"

namespace belay::research::report {

// Returns the charts of a specialist that are worth drawing: metrics over the fiscal
// years.
// Their ids are unique in a document.
std::vector<Chart> charts_of(const FigureIndex& index, std::string_view specialist);

// Returns the cash flows of the ten projected years; empty if none is available.
std::vector<Chart> projection_charts(const FigureIndex& index);

// Bars of metrics of one kind, without those that are not available.
struct BarChart {
  std::string id;
  std::string title;
  std::vector<HorizontalBar> bars;
};
// Risk words by category, or shares of the tone's word lists.
std::vector<BarChart> bar_charts_of(const FigureIndex& index, std::string_view specialist);

// Metrics of the overview, for which the report has a row over the fiscal years.
struct KeyMetric {
  std::string_view specialist;
  std::string_view metric;
};
std::span<const KeyMetric> key_metrics();
// Metrics of the summary, of the last fiscal year.
std::span<const KeyMetric> summary_metrics();

// Returns a figure as readers see it: "46.9%".
std::string shown_value(const Figure& figure);

}  // namespace belay::research::report
