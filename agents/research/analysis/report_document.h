#pragma once
// agents/research/analysis/report_document.h - the report of a stored analysis.

#include "agents/research/analysis/analysis_operations.h"
#include "agents/research/report/analysis_document.h"

namespace belay::research {

// Returns the input of html_report() and markdown_report(). `now` is the date of the report.
AnalysisDocument report_document(const AnalysisView& view, Instant now);

}  // namespace belay::research
