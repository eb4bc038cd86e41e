#pragma once
// agents/research/analysis/analysis_folders.h - the data folders of an analysis.
//
// They are never a part of the input or of the state: whoever may start or fork runs over HTTP must
// not select files of the server. A command in the process of the store saves them with the
// analysis (AnalysisRow::data); all others use the folder of the program's settings.

#include <memory>

#include "agents/research/analysis/analysis_state.h"
#include "agents/research/analysis/research_parts.h"
#include "belay/context.h"

namespace belay::research {

// Returns the order with the folders of the analysis of this thread.
Task<Result<AnalysisRequest>> with_folders(std::shared_ptr<const ResearchParts> parts,
                                           AnalysisRequest request, Context& context);

// Fails with `invalid` if an order names folders.
Result<Done> check_no_folders(const AnalysisRequest& request);

}  // namespace belay::research
