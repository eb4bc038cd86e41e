#pragma once
// agents/research/specialists/strategy.h - the strategy specialist: returns, acquisitions, pay, and
// the allocation of capital.

#include "agents/research/specialists/subtask_results.h"

namespace belay::research {

// The functions return the figures and findings of a subtask.
Results measure_returns(const Company& company);
Results review_acquisitions(const Company& company);
Results analyze_compensation(const Company& company);
Results score_capital_allocation(const Company& company);

}  // namespace belay::research
