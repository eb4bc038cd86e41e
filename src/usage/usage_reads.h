#pragma once
// usage/usage_reads.h - reads of the stored totals through Records, and their documents.
//
// Both documents are those of the API: GET /api/analytics/agents and
// /api/analytics/agents/{id}/daily (docs/analytics.md).
//
// Threading: the executor of `records`.

#include <string>
#include <vector>

#include "analytics/usage_series.h"
#include "belay/record.h"

namespace belay::usage {

// The totals of each agent on the days from `first_date` to `last_date`, both included: the
// document
// {"summary"}. `invalid` for a period that is not two dates in order.
Task<Result<std::vector<analytics::AgentUsage>>> read_summary(Records& records,
                                                              std::string first_date,
                                                              std::string last_date);
// One entry for each of `days` days up to `last_date`. An empty `agent`: the sum of all.
Task<Result<std::vector<analytics::UsageDay>>> read_series(Records& records, std::string agent,
                                                           std::string last_date,
                                                           std::int64_t days);

Value summary_document(const std::vector<analytics::AgentUsage>& agents);
Value series_document(const std::string& agent, const std::vector<analytics::UsageDay>& series);

}  // namespace belay::usage
