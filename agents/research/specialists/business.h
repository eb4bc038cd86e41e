#pragma once
// agents/research/specialists/business.h - the specialists for the business and its returns:
// business_model, competitive_position, management_quality, and the numbers of risk_factors.

#include "agents/research/specialists/subtask_results.h"

namespace belay::research {

// The functions return the figures and findings of a subtask.
Results compare_excess_returns(const Company& company);
Results score_moat(const Company& company);
Results measure_execution(const Company& company);

}  // namespace belay::research
