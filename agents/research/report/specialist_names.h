#pragma once
// agents/research/report/specialist_names.h - displayed names of specialists and subtasks.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace belay::research::report {

struct SubtaskName {
  std::string_view name;  // "ratio_calculation"
  std::string_view title;
};

struct SpecialistName {
  std::string_view name;  // "earnings_quality"
  std::string_view title;
  std::string_view about;  // one sentence
  std::span<const SubtaskName> subtasks;
};

// Returns the thirteen specialists, in the order of docs/research.md.
std::span<const SpecialistName> specialist_names();

// Returns the position in specialist_names(), or its size for an unknown name.
std::size_t specialist_position(std::string_view specialist);
// Returns the position among the specialist's subtasks, or their number for an unknown name.
std::size_t subtask_position(std::string_view specialist, std::string_view subtask);

// Titles; an unknown name is its title.
std::string specialist_title(std::string_view specialist);
std::string subtask_title(std::string_view specialist, std::string_view subtask);

}  // namespace belay::research::report
