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
  std::string title;        // displayed: "Ratios"
  std::string deliverable;  // "ratio_table"
  Destination destination = Destination::rows;
  Results (*calculate)(const SubtaskInput& input);
  // Subtasks of other specialists, "valuation.wacc_calculation", whose deliverables must exist.
  // All need financial.10k_parsing as well.
  std::vector<std::string> needs = {};
  bool needs_approval = false;  // of a person, before it begins
};

struct Specialist {
  std::string name;               // "earnings_quality"
  std::string title;              // displayed: "Earnings quality"
  std::string about;              // one sentence
  std::vector<Subtask> subtasks;  // in their order; each is a checkpoint
};

// All specialists, in the order of docs/research.md.
const std::vector<Specialist>& specialists();
// Returns the specialist, or null.
const Specialist* find_specialist(std::string_view name);
// Returns the position in specialists(), or its size for an unknown name.
std::size_t specialist_position(std::string_view specialist);
// Returns the position among the specialist's subtasks, or their number for an unknown name.
std::size_t subtask_position(std::string_view specialist, std::string_view subtask);
// Titles; an unknown name is its title.
std::string specialist_title(std::string_view specialist);
std::string subtask_title(std::string_view specialist, std::string_view subtask);

}  // namespace belay::research
