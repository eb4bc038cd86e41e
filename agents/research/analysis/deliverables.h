#pragma once
// agents/research/analysis/deliverables.h - the stored deliverables of an analysis.

#include <string>
#include <vector>

#include "agents/research/analysis/records.h"
#include "agents/research/finance/figure.h"

namespace belay::research {

// Returns the deliverables of an analysis, in the order of specialists and subtasks.
Task<Result<std::vector<Deliverable>>> read_deliverables(Records& records, std::string analysis);

// Returns the results of all of them together.
Result<Results> results_of(const std::vector<Deliverable>& deliverables);

}  // namespace belay::research
