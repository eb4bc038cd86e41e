#pragma once
// agents/research/analysis/analysis_folders.h - the data folders of an analysis.
//
// They are never a part of the input or of the state: a caller who may start or fork
// runs over HTTP must not select files of the server. `research analyze --data` saves them with the
// analysis (AnalysisRow::data); all others use the folder of the program's settings. Records can be
// saved over HTTP, too: a service reads only folders that its operator permits.

#include <string>

#include "agents/research/analysis/analysis_state.h"
#include "agents/research/analysis/records.h"
#include "agents/research/analysis/research_parts.h"
#include "belay/context.h"

namespace belay::research {

// Returns the row of one of the owner's analyses, or an empty one.
Task<Result<AnalysisRow>> read_analysis_row(std::string analysis, Context& context);

// Returns the order with the folders of its analysis. Fails with `forbidden` if one of them is not
// permitted.
Result<AnalysisRequest> with_folders(const ResearchParts& parts, AnalysisRequest request,
                                     const AnalysisRow& row);

// Fails with `invalid` if the input of a run has folders, or members that are options of the run.
Result<Done> check_input(const AnalysisRequest& request);

}  // namespace belay::research
