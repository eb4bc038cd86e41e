#pragma once
// agents/research/analysis/analysis_documents.h - analyses as JSON documents, and their schemas.

#include <map>
#include <string>
#include <vector>

#include "agents/research/analysis/analysis_operations.h"

namespace belay::research {

// The document of `research show --json`, and of GET /api/analyses/{analysisId}.
Value analysis_document(const AnalysisView& view);
// By specialist: "progress", "completed", "current", "failure" and "waitsFor".
Value progress_document(const AnalysisView& view);
// The document of an analysis that was started or continued.
Value summary_document(const RunView& run, const Analysis& state);
// The answer to a request to pause.
Value pause_document(const AnalysisView& view);
// An item of a list.
Value listed_document(const ListedAnalysis& listed);
Value list_document(const AnalysisListPage& page);
// The status of an analysis in a list; "not started" without a run.
std::string listed_status(const ListedAnalysis& listed);

// Schemas of these documents, by name: Presentation::schemas.
std::map<std::string, Value> research_schemas();

}  // namespace belay::research
