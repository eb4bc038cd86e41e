#pragma once
// agents/research/report/html_report.h - the report of an analysis as one HTML file.

#include <string>

#include "agents/research/report/analysis_document.h"

namespace belay::research {

// Returns an HTML document in UTF-8 without scripts and without external resources; its content
// security policy forbids both. Light or dark as the reader's system wants it, with rules for
// print. Each figure is a link to its inputs, or to the reason why it is not available; filings are
// links to EDGAR. Equal documents give equal bytes. The size is bounded: see report_limits.h.
std::string html_report(const AnalysisDocument& document);

}  // namespace belay::research
