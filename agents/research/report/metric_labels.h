#pragma once
// agents/research/report/metric_labels.h - displayed names of metrics, findings and constants.

#include <string>
#include <string_view>

namespace belay::research::report {

// Returns "Return on equity" for "return_on_equity". Unknown names are made readable alike.
std::string metric_label(std::string_view metric);

// Whether a metric with the unit "ratio" is read as a percentage (a margin) and not as a multiple
// (a current ratio).
bool is_percentage(std::string_view metric);

// Returns "Receivables outpace sales" for "receivables_outpace_sales".
std::string finding_label(std::string_view code);

// Returns the condition of a finding as one sentence; empty for an unknown code.
std::string_view finding_condition(std::string_view code);

// Returns the meaning of a declared constant; empty for an unknown name.
std::string_view constant_meaning(std::string_view name);

// Returns the unit of a declared constant, as in Figure::unit.
std::string_view constant_unit(std::string_view name);

}  // namespace belay::research::report
