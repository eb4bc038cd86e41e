#pragma once
// agents/research/analysis/analysis_batch.h - a batch: the analyses of several companies, which the
// workers of a queue execute.
//
// The id of each analysis follows from the owner, the batch and the ticker. Therefore a batch that
// is sent twice starts nothing twice, and one whose start was interrupted continues.

#include <string>
#include <vector>

#include "agents/research/analysis/analysis_operations.h"
#include "agents/research/analysis/ticker_file.h"

namespace belay::research {

struct BatchOrder {
  std::string batch;  // its id
  std::string queue = std::string(default_queue);
  std::vector<BatchTicker> tickers;
  AnalysisRequest request;  // the options of all; the batch sets ticker and batch
};

// An analysis of a batch.
struct BatchMember {
  std::string id;
  AnalysisRequest request;
};

// Checks all orders. Fails with `invalid`, also for a ticker without a known number.
Result<std::vector<BatchMember>> check_batch(const UserId& owner, const BatchOrder& order);

// Returns the start of a member's run, in the queue of the batch.
Result<StartRun> prepare_member(const UserId& owner, const std::string& queue,
                                const BatchMember& member);

// Adds the members that are not listed to the list.
Task<Result<Done>> list_batch(AnalysisAccess at, const std::vector<BatchMember>& members,
                              Instant now);
// Starts those that have not started, some at the same time. An error names the ticker, and how
// many were started.
Task<Result<Done>> start_batch(AnalysisAccess at, std::string queue,
                               const std::vector<BatchMember>& members);
// Waits until all have ended or wait for a decision. Does not execute them.
Task<Result<Done>> wait_for_batch(AnalysisAccess at, const std::vector<BatchMember>& members);
// Returns their rows and runs, in their order.
Task<Result<std::vector<ListedAnalysis>>> batch_states(AnalysisAccess at,
                                                       const std::vector<BatchMember>& members);

}  // namespace belay::research
