#pragma once
// agents/research/analysis/specialist_graph.h - the graph of a specialist: a node for each subtask,
// each of which ends in a commit with its deliverable.

#include <memory>

#include "agents/research/analysis/analysis_state.h"
#include "agents/research/analysis/research_parts.h"
#include "agents/research/specialists/specialists.h"
#include "belay/context.h"
#include "belay/graph.h"

namespace belay::research {

// Attempts of a subtask whose error might be temporary.
inline constexpr int kSubtaskAttempts = 3;

// A subtask that fails, that waits for another specialist, or that finds a request to pause ends
// the run, which never fails itself: the other specialists continue, and a later run of the
// specialist restores its checkpoint (specialist_checkpoints.h) and continues with that subtask.
Result<Graph<SpecialistRun>> specialist_graph(const Specialist& specialist,
                                              std::shared_ptr<const ResearchParts> parts);

}  // namespace belay::research
