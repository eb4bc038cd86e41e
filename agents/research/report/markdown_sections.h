#pragma once
// agents/research/report/markdown_sections.h - the parts of the Markdown report.
//
// Each function appends blocks to `text`, each followed by an empty line. Anchors are those of the
// HTML report.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/report/report_content.h"

namespace belay::research::report {

// markdown_parts.cc

// A link to the figure with its value, or "n/a" and a link to the reason.
std::string figure_markdown(const FigureIndex& index, std::optional<FigureNumber> number);
// A link to an anchor; `text` is escaped by the caller.
std::string anchor_link(std::string_view anchor, std::string_view text);
// An anchor without text.
std::string anchor_markdown(std::string_view anchor);
// Appends a table's header row and the row that aligns: the first `text_columns` to the left.
void append_table_head(std::string& text, const std::vector<std::string>& columns,
                       std::size_t text_columns);
// Appends one row; cells are escaped by the caller.
void append_table_row(std::string& text, const std::vector<std::string>& cells);
// A metric's label and name, and its unit unless the values have a percent sign.
std::string metric_markdown(std::string_view metric, std::string_view unit);

// markdown_body.cc
void write_summary(std::string& text, const ReportContent& content);
void write_key_figures(std::string& text, const ReportContent& content);
void write_findings(std::string& text, const ReportContent& content);
void write_specialists(std::string& text, const ReportContent& content);

// markdown_valuation.cc
void write_football_field(std::string& text, const ReportContent& content);
void write_projection(std::string& text, const ReportContent& content);
void write_sensitivity(std::string& text, const ReportContent& content);
void write_peers(std::string& text, const ReportContent& content);

// markdown_appendix.cc
void write_unavailable(std::string& text, const ReportContent& content);
void write_assumptions(std::string& text, const ReportContent& content);
void write_notes(std::string& text, const ReportContent& content);
void write_sources(std::string& text, const ReportContent& content);
void write_provenance(std::string& text, const ReportContent& content);

}  // namespace belay::research::report
