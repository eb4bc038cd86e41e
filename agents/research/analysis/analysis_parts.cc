#include "agents/research/analysis/analysis_parts.h"

#include <algorithm>

#include "agents/research/specialists/specialists.h"

namespace belay::research {
namespace {

std::vector<std::string> subtasks_of(const Specialist& specialist) {
  std::vector<std::string> names;
  for (const Subtask& subtask : specialist.subtasks) {
    if (!subtask.needs_approval) names.push_back(subtask.name);
  }
  return names;
}

// Returns 1 for a specialist that needs no other one; otherwise the phase after those that it
// needs. Needs form no cycle.
int phase_of(const Specialist& specialist) {
  int phase = 1;
  for (const Subtask& subtask : specialist.subtasks) {
    if (subtask.needs_approval) continue;  // the final scoring, after all phases
    for (const std::string& need : subtask.needs) {
      const Specialist* needed = find_specialist(need.substr(0, need.find('.')));
      if (needed != &specialist) phase = std::max(phase, phase_of(*needed) + 1);
    }
  }
  return phase;
}

// The statements first; then the specialists, by their phases.
std::vector<AnalysisPart> all_parts() {
  std::vector<AnalysisPart> parts = {{"statements", "financial", 0, {"10k_parsing"}}};
  for (const Specialist& each : specialists()) {
    parts.push_back({each.name, each.name, phase_of(each), subtasks_of(each)});
  }
  return parts;
}

}  // namespace

const std::vector<AnalysisPart>& parts_of_analysis() {
  static const std::vector<AnalysisPart> parts = all_parts();
  return parts;
}

}  // namespace belay::research
