#pragma once
// agents/research/analysis/analysis_operations.h - the operations on analyses that commands and
// routes have in common.

#include <optional>
#include <string>
#include <vector>

#include "agents/research/analysis/analysis_state.h"
#include "agents/research/analysis/records.h"
#include "agents/research/finance/figure.h"
#include "belay/service.h"

namespace belay::research {

// The service, the caller, and the owner of the analyses. All must outlive the calls.
struct AnalysisAccess {
  Service& service;
  const Principal& who;
  UserId owner;
};

// Checks an order without the files: names of specialists and constants, dates, limits.
Result<Done> check_order(const AnalysisRequest& request);

// Returns the start of the run of an analysis.
Result<StartRun> prepare_analysis(const UserId& owner, const std::string& id,
                                  const AnalysisRequest& request);

// Adds an analysis to the list, before its run starts: one that fails is listed, too.
Task<Result<Done>> list_new_analysis(AnalysisAccess at, std::string id, std::string ticker,
                                     Instant now);

// An analysis with all that it has produced so far.
struct AnalysisView {
  RunView run;
  Analysis state;
  std::vector<Deliverable> deliverables;  // in the order of specialists and subtasks
  Results results;
};

// `id` is the id of an analysis, or its beginning.
Task<Result<AnalysisView>> find_analysis(AnalysisAccess at, std::string id);
Task<Result<std::string>> resolve_analysis(AnalysisAccess at, std::string begin);

struct AnalysisListPage {
  std::vector<AnalysisRow> analyses;  // newest first
  std::string next;                   // of the next page; empty: none
};
Task<Result<AnalysisListPage>> list_analyses(AnalysisAccess at, std::string next,
                                             std::size_t limit);

// Asks an analysis in progress to wait before its next subtasks.
Task<Result<Done>> pause_analysis(AnalysisAccess at, std::string id, Instant now);
// Withdraws a pause, and approves what the analysis waits for. Returns the run as it continues.
Task<Result<RunView>> resume_analysis(AnalysisAccess at, std::string id);

// The document of `research show --json`, and of GET /api/analyses/{id}.
Value analysis_document(const AnalysisView& view);

}  // namespace belay::research
