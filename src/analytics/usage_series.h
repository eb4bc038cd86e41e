#pragma once
// analytics/usage_series.h - the views on stored days: the daily series of an agent, and the
// totals of each agent in a period.
//
// Threading: values.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analytics/usage.h"
#include "belay/result.h"

namespace belay::analytics {

inline constexpr std::int64_t series_days_default = 30;
inline constexpr std::int64_t series_days_max = 365;

// Returns one entry for each of the `days` days up to and including `last_date`, oldest first; a
// day without an entry in `stored` has zeros. `stored` can have any order, contain other agents and
// dates, and contain several entries of the same day, which are added. An empty `agent` selects all
// agents, added for each day. `invalid` if `days` is not 1 to series_days_max, if `last_date` is
// not a date, or if the series would start before the year 1.
Result<std::vector<UsageDay>> daily_series(std::span<const UsageDay> stored, std::string_view agent,
                                           std::string_view last_date, std::int64_t days);

// The totals of an agent in a period.
struct AgentUsage {
  std::string agent;
  UsageTotals totals = {};
  friend bool operator==(const AgentUsage&, const AgentUsage&) = default;
};

// Returns the totals of the days from `first_date` to `last_date`, both included, by agent.
// `invalid` if one of them is not a date, or `last_date` is before `first_date`.
Result<std::vector<AgentUsage>> usage_by_agent(std::span<const UsageDay> stored,
                                               std::string_view first_date,
                                               std::string_view last_date);

}  // namespace belay::analytics
