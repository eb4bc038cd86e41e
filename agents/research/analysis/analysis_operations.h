#pragma once
// agents/research/analysis/analysis_operations.h - the operations on analyses that commands and
// routes have in common.

#include <map>
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
// Fails with `invalid`, with the known names, for another name.
Result<Done> check_specialist(const std::string& name);

// Returns the start of the run of an analysis.
Result<StartRun> prepare_analysis(const UserId& owner, const std::string& id,
                                  const AnalysisRequest& request);

// Adds an analysis to the list, before its run starts: one that fails is listed, too. Returns false
// if it was listed before; its row remains unchanged.
Task<Result<bool>> list_new_analysis(AnalysisAccess at, std::string id, AnalysisRequest request,
                                     Instant now);
// Removes an analysis whose run did not start from the list.
Task<Result<Done>> remove_from_list(AnalysisAccess at, std::string id);

// An analysis with all that it has produced so far.
struct AnalysisView {
  RunView run;
  Analysis state;  // with the exact progress of the specialists: analysis_progress.h
  std::map<std::string, std::string> current;  // the subtask in progress, by specialist
  std::vector<Deliverable> deliverables;       // in the order of specialists and subtasks
  Results results;
};

// `id` is the whole id of an analysis. Fails with `not_found` for any other thread.
Task<Result<AnalysisView>> find_analysis(AnalysisAccess at, std::string id);
// The same without its results.
Task<Result<AnalysisView>> find_progress(AnalysisAccess at, std::string id);
// Returns the id that has, or alone begins with, this text.
Task<Result<std::string>> resolve_analysis(AnalysisAccess at, std::string begin);

struct ListedAnalysis {
  AnalysisRow row;
  std::optional<RunRow> run;  // unset: it has not started
};
struct AnalysisListPage {
  std::vector<ListedAnalysis> analyses;
  std::string next;  // of the next page; empty: none
};
// Newest first; those of a batch in the order of their ids.
Task<Result<AnalysisListPage>> list_analyses(AnalysisAccess at, std::string batch, std::string next,
                                             std::size_t limit);
// Reads the runs of the rows, some at the same time.
Task<Result<std::vector<ListedAnalysis>>> with_runs(AnalysisAccess at,
                                                    std::vector<AnalysisRow> rows);
// Returns a page of the rows of a batch, ordered by id.
Task<Result<std::vector<AnalysisRow>>> rows_of_batch(AnalysisAccess at, std::string batch,
                                                     std::string after, std::size_t limit);

// Asks an analysis in progress to wait before its next subtasks.
Task<Result<Done>> pause_analysis(AnalysisAccess at, std::string id, Instant now);
// Withdraws a pause, and approves what the analysis waits for. Returns the run as it continues.
Task<Result<RunView>> resume_analysis(AnalysisAccess at, std::string id);
// Withdraws a request to pause.
Task<Result<Done>> end_pause(AnalysisAccess at, std::string id);

// Executes the remaining subtasks of one specialist that did not finish. Fails with `conflict` if
// the analysis does not wait because of failures, or if another decision was made meanwhile.
Task<Result<RunView>> retry_specialist(AnalysisAccess at, std::string id, std::string specialist);

// A decision on the approval that an analysis waits for.
struct AnalysisDecision {
  InterruptId interrupt;
  Decision decision;
};
// Checks that the specialist can be executed again. Requires the run with its approval.
Result<AnalysisDecision> retry_decision(const AnalysisAccess& at, const RunView& run,
                                        const std::string& specialist);
// The approval of whatever the analysis waits for.
AnalysisDecision resume_decision(const AnalysisAccess& at, const ApprovalRow& approval);
// Returns the decision that approves a retry of the specialist, as retry_decision() does, for an
// approval of any status; nullopt if the approval is not about failures.
std::optional<AnalysisDecision> decision_to_retry(const AnalysisAccess& at,
                                                  const ApprovalRow& approval,
                                                  const std::string& specialist);

}  // namespace belay::research
