#pragma once
// agents/research/specialists/trends.h - the numbers of growth and industry_macro.

#include "agents/research/specialists/subtask_results.h"

namespace belay::research {

// The functions return the figures and findings of a subtask.
Results measure_growth_stability(const Company& company);
Results describe_macro_context(const Company& company);
Results measure_market_sensitivity(const Company& company);
Results measure_real_growth(const Company& company);
Results locate_in_cycle(const Company& company);

}  // namespace belay::research
