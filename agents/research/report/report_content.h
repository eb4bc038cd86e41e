#pragma once
// agents/research/report/report_content.h - what both forms of a report are written from.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/report/figure_index.h"
#include "agents/research/report/provenance.h"
#include "agents/research/report/report_notes.h"
#include "agents/research/report/valuation_ranges.h"

namespace belay::research::report {

// One metric of the comparison with peers.
struct PeerRow {
  std::string metric;
  std::optional<FigureNumber> own;  // of the last fiscal year
  std::optional<FigureNumber> median;
  std::optional<FigureNumber> rank;
  std::optional<FigureNumber> percentile;
};

// Projected values of one kind, year after year.
struct ProjectionRow {
  std::string label;
  std::string_view unit;
  std::vector<FigureNumber> years;
};

// Derived from a document, which must outlive it.
struct ReportContent {
  explicit ReportContent(const AnalysisDocument& document);

  FigureIndex index;
  Provenance provenance;
  std::vector<FindingGroup> red_flags;     // severity medium and high
  std::vector<FindingGroup> observations;  // severity low
  std::vector<PeerRow> peer_rows;
  std::vector<ProjectionRow> projection;
  FootballField football_field;
  std::optional<HeatMap> value_map;       // of values per share
  std::optional<HeatMap> enterprise_map;  // of enterprise values
};

// Whether a figure is in the comparison, the projection or a sensitivity table, and therefore not
// in the table of its subtask.
bool is_in_special_table(const Figure& figure);

// Returns the title of the report, not escaped: "Apple Inc. (AAPL)".
std::string report_title(const AnalysisDocument& document);

// Returns "2026-02-02 08:15 UTC" of "2026-02-02T08:15:00Z", not escaped; another text unchanged.
std::string generation_time(const AnalysisDocument& document);

// Returns the specialists with a section: all known ones, then others that have figures.
std::vector<std::string_view> section_names(const FigureIndex& index);
// Whether the analysis has anything of this specialist, a failure included.
bool has_content(const AnalysisDocument& document, std::string_view specialist);

// Returns the reason why the specialist failed; nullptr if it did not.
const ReportFailure* failure_of(const AnalysisDocument& document, std::string_view specialist);

// Returns "2024-09-29 to 2025-09-27", or the one date there is.
std::string period_of(const Input& input);

// Returns the name of a declared constant for an input "config:NAME"; empty for other inputs.
std::string_view constant_of(const Input& input);
// Returns the position of a constant in the document, if it is shown.
std::optional<std::size_t> constant_position(const AnalysisDocument& document,
                                             std::string_view name);

// Returns "10-K filed 2025-10-31", or the known part of that.
std::string filing_of(const Input& input);

// Returns ", and 75 figures of the projection, ..."; empty if all figures are named.
std::string zero_count(const ZeroItem& zero);

// Splits prose at empty lines.
std::vector<std::string_view> paragraphs_of(std::string_view text);

}  // namespace belay::research::report
