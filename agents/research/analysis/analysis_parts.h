#pragma once
// agents/research/analysis/analysis_parts.h - the parts of an analysis: subtasks of a specialist
// that are one node of the coordinator's graph.

#include <string>
#include <vector>

namespace belay::research {

struct AnalysisPart {
  std::string node;
  std::string specialist;
  int phase = 0;
  std::vector<std::string> subtasks;
};

// The statements first, then the specialists in their order, with the phases that their
// needs determine. Without the final scoring, which needs an approval.
const std::vector<AnalysisPart>& parts_of_analysis();

}  // namespace belay::research
