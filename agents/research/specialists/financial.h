#pragma once
// agents/research/specialists/financial.h - the financial specialist: statements, ratios, peers and
// red flags.

#include "agents/research/specialists/subtask_results.h"

namespace belay::research {

// The functions return the figures and findings of a subtask, without those from texts.
Results parse_statements(const Company& company);
Results calculate_ratios(const Company& company);
Results compare_with_peers(const Company& company);
Results detect_red_flags(const Company& company);

}  // namespace belay::research
