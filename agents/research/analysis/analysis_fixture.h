#pragma once
// agents/research/analysis/analysis_fixture.h - orders, and counted calculations, for the tests of
// analyses.

#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agents/research/analysis/analysis_state.h"
#include "agents/research/analysis/research_parts.h"

namespace belay::research {

// Parts with the bundled data.
ResearchParts bundled_parts();

// Counts the calculations of subtasks, and lets some fail a number of times. Must outlive the
// parts.
struct Calculations {
  std::map<std::string, int> counts;    // by "SPECIALIST.SUBTASK"
  std::map<std::string, int> failures;  // left

  std::shared_ptr<const ResearchParts> parts() {
    auto parts = std::make_shared<ResearchParts>(bundled_parts());
    parts->before_subtask = [this](const std::string& specialist,
                                   const std::string& subtask) -> Result<Done> {
      std::string name = specialist + "." + subtask;
      ++counts[name];
      auto left = failures.find(name);
      if (left == failures.end() || left->second == 0) return Done{};
      --left->second;
      return error(ErrorCode::invalid, "the source is unavailable");
    };
    return parts;
  }
};

// `only`: specialists; empty: all.
Analysis order_of(const std::string& ticker, std::vector<std::string> only = {});

inline std::string text_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace belay::research
