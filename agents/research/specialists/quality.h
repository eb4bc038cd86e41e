#pragma once
// agents/research/specialists/quality.h - findings of earnings_quality and credit, and the numbers
// of governance.

#include "agents/research/specialists/subtask_results.h"

namespace belay::research {

// The functions return the figures and findings of a subtask.
Results calculate_m_score(const Company& company);
Results calculate_f_score(const Company& company);
Results calculate_z_score(const Company& company);
Results measure_timeliness(const Company& company);
Results review_restatements(const Company& company);
Results describe_shares(const Company& company);

}  // namespace belay::research
