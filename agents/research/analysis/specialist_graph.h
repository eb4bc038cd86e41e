#pragma once
// agents/research/analysis/specialist_graph.h - the graph of a specialist: a node for each subtask,
// each of which ends in a commit with its deliverable.

#include <functional>
#include <memory>
#include <string>

#include "agents/research/analysis/analysis_state.h"
#include "agents/research/analysis/subject.h"
#include "agents/research/specialists/specialists.h"
#include "belay/context.h"
#include "belay/graph.h"

namespace belay::research {

// The objects that all nodes of a program share.
struct ResearchParts {
  std::shared_ptr<SubjectCache> subjects = std::make_shared<SubjectCache>();
  std::string data = {};  // folder of orders that name none
  // Called before a subtask calculates, on a thread of the pool; its error is that of the subtask.
  // For tests.
  std::function<Result<Done>(const std::string& specialist, const std::string& subtask)>
      before_subtask = nullptr;
};

// Attempts of a subtask whose error might be temporary.
inline constexpr int kSubtaskAttempts = 3;

// A subtask that fails, that waits for another specialist, or that finds a request to pause ends
// the run, which never fails itself: the other specialists continue, and a later run of the
// specialist continues with that subtask.
Result<Graph<SpecialistRun>> specialist_graph(const Specialist& specialist,
                                              std::shared_ptr<const ResearchParts> parts);

}  // namespace belay::research
