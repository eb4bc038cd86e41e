#pragma once
// agents/research/analysis/coordinator.h - the Lead Coordinator: the graph of an analysis.
//
// It reads the files, lets the specialists work in parallel, those that need another's deliverable
// after it, and asks a person before the final scoring. If specialists have failed, or if a
// person has asked for a pause, the run waits for a decision, with all completed subtasks: an
// approval continues with the others.

#include <memory>

#include "agents/research/analysis/specialist_graph.h"

namespace belay::research {

// Outcomes of a run: "complete", "incomplete" (some specialists failed), or "scoring_rejected".
Result<Graph<Analysis>> analysis_graph(std::shared_ptr<const ResearchParts> parts);

// Returns "3 of 4" for each selected specialist.
std::map<std::string, std::string> progress_of(const Analysis& state);

}  // namespace belay::research
