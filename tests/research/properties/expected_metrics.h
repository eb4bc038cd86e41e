#pragma once
// tests/research/properties/expected_metrics.h - the metrics that every analysis has, from the
// specification and not from the catalogue.

#include <string>
#include <vector>

namespace belay::research {

struct ExpectedMetric {
  std::string subtask;  // "financial.ratio_calculation"
  std::string name;
  int years = 1;  // the last reported years; at most those that exist
};

// All 476 metrics.
const std::vector<ExpectedMetric>& expected_metrics();

}  // namespace belay::research
