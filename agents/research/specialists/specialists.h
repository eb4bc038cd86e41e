#pragma once
// agents/research/specialists/specialists.h - the thirteen specialists and their subtasks.

#include <string>
#include <string_view>
#include <vector>

#include "agents/research/specialists/company.h"
#include "agents/research/specialists/text_figures.h"

namespace belay::research {

// Where a deliverable is kept: as records of the store, in the cache, or also in the graph of
// findings.
enum class Destination { rows, cache, graph };

struct SubtaskInput {
  const Company& company;
  const TextContext& text;
};

struct Subtask {
  std::string name;         // "ratio_calculation"
  std::string deliverable;  // "ratio_table"
  Destination destination = Destination::rows;
  Results (*calculate)(const SubtaskInput& input);
  // Subtasks of other specialists, "valuation.wacc_calculation", whose deliverables must exist.
  // All need financial.10k_parsing as well.
  std::vector<std::string> needs = {};
  bool needs_approval = false;  // of a person, before it begins
};

struct Specialist {
  std::string name;
  std::vector<Subtask> subtasks;  // in their order; each is a checkpoint
};

// All specialists, in the order of docs/research.md.
const std::vector<Specialist>& specialists();
// Returns the specialist, or null.
const Specialist* find_specialist(std::string_view name);

}  // namespace belay::research
