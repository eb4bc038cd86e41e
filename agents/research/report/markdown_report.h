#pragma once
// agents/research/report/markdown_report.h - the report of an analysis as Markdown.

#include <string>

#include "agents/research/report/analysis_document.h"

namespace belay::research {

// Returns the report as GitHub-flavoured Markdown in UTF-8, with tables instead of charts. Its
// links to figures need a viewer that keeps `<a id="f17"></a>`. Equal documents give equal bytes.
// The size is bounded: see report_limits.h.
std::string markdown_report(const AnalysisDocument& document);

}  // namespace belay::research
