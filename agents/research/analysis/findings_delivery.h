#pragma once
// agents/research/analysis/findings_delivery.h - the node that delivers the findings of an analysis
// to its graph.

#include "agents/research/analysis/analysis_state.h"
#include "agents/research/analysis/records.h"
#include "agents/research/analysis/research_parts.h"
#include "belay/context.h"
#include "belay/state.h"

namespace belay::research {

// Returns the rows of the graph.
Result<GraphRows> graph_rows_of(const Analysis& state, const std::string& analysis,
                                const std::vector<Deliverable>& deliverables);

// Delivers the results so far to the sink of the program. A failure of the sink is a part of the
// state, and does not fail the analysis.
Task<Result<Update<Analysis>>> deliver_findings(std::shared_ptr<const ResearchParts> parts,
                                                const Analysis& state, Context& context);

}  // namespace belay::research
