#pragma once
// agents/research/analysis/analysis_folders.h - the data folders of an analysis.
//
// They are never a part of the input or of the state: a caller who may start or fork
// runs over HTTP must not select files of the server. `research analyze --data` saves them with the
// analysis (AnalysisRow::data); all others use the folder of the program's settings. Records can be
// saved over HTTP, too: a service reads only folders that its operator permits.

#include <memory>

#include "agents/research/analysis/analysis_state.h"
#include "agents/research/analysis/research_parts.h"
#include "belay/context.h"

namespace belay::research {

// Returns the order with the folders of the analysis of this thread. Fails with `forbidden` if one
// of them is not permitted.
Task<Result<AnalysisRequest>> with_folders(std::shared_ptr<const ResearchParts> parts,
                                           AnalysisRequest request, Context& context);

// Fails with `invalid` if the input of a run has folders, or members that are options of the run.
Result<Done> check_input(const AnalysisRequest& request);

}  // namespace belay::research
