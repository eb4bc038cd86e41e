#pragma once
// agents/research/analysis/analysis_progress.h - the exact progress of an analysis, also while a
// phase is in progress.
//
// The state of the coordinator changes with the end of a phase. Meanwhile, each subtask ends in a
// commit of the subgraph of its specialist, which the exported run contains.

#include <map>
#include <string>

#include "agents/research/analysis/analysis_state.h"
#include "belay/service.h"

namespace belay::research {

struct AnalysisProgress {
  std::map<std::string, SpecialistProgress> specialists;
  std::map<std::string, std::string> current;  // the subtask in progress, by specialist
};

// Returns the progress of the run, whose decoded state is `state`. Reads the run as one document,
// unless it is complete or waits for a decision: then its state is exact. The service and the
// principal must outlive the call. Errors: those of Service::export_run().
Task<Result<AnalysisProgress>> progress_of_run(Service& service, const Principal& who, RunRow run,
                                               const Analysis& state);

// Returns the progress in an exported run. Members of another form count as absent.
AnalysisProgress progress_in(const Value& exported, const Analysis& state);

}  // namespace belay::research
