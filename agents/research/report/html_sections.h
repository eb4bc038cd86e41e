#pragma once
// agents/research/report/html_sections.h - the parts of the HTML report.
//
// Each function appends elements to `html`. Every number of the report is a link to an anchor:
// "f17" of a figure, "k3" of a constant, "n5" of a finding, "d0" of the value of convergence.

#include <cstddef>
#include <string>
#include <string_view>

#include "agents/research/report/report_content.h"
#include "agents/research/report/svg_charts.h"

namespace belay::research::report {

// html_parts.cc: pieces of several sections.

// A link to the figure, or to the reason why it is not available.
std::string figure_link(const FigureIndex& index, FigureNumber number);
// A link with another text; `text` is escaped by the caller.
std::string figure_link(const FigureIndex& index, FigureNumber number, std::string_view text);
// A table's cell with the figure; an empty cell without a number.
std::string figure_cell(const FigureIndex& index, std::optional<FigureNumber> number);
// The head of a metric's row, with the unit unless the numbers have none.
std::string metric_head(std::string_view metric, std::string_view unit);
// The unit as people read it, in small type; empty for ratios, counts and scores.
std::string unit_note(std::string_view unit);
// Opens a table that scrolls separately, with its caption and header row. Names are plain text.
std::string open_table(std::string_view css_class, std::string_view caption,
                       const std::vector<std::string>& columns);
std::string close_table();
// Wraps a chart in a figure with its caption and the legend of its series.
std::string chart_figure(const Chart& chart);
std::string chart_figure(std::string_view title, std::string_view svg);

// html_summary.cc
void append_header(std::string& html, const ReportContent& content);
void append_navigation(std::string& html, const ReportContent& content);
void append_key_figures(std::string& html, const ReportContent& content);

// html_findings.cc
void append_findings(std::string& html, const ReportContent& content);

// html_specialists.cc: one section for each specialist.
void append_specialists(std::string& html, const ReportContent& content);

// html_valuation.cc
void append_football_field(std::string& html, const ReportContent& content);
void append_projection(std::string& html, const ReportContent& content);
void append_sensitivity(std::string& html, const ReportContent& content);
void append_peers(std::string& html, const ReportContent& content);

// html_appendix.cc
void append_unavailable(std::string& html, const ReportContent& content);
void append_assumptions(std::string& html, const ReportContent& content);
void append_notes(std::string& html, const ReportContent& content);
void append_sources(std::string& html, const ReportContent& content);
void append_provenance(std::string& html, const ReportContent& content);

}  // namespace belay::research::report
