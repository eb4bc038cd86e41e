#include "analytics/usage_series.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "belay/clock.h"

namespace belay::analytics {
namespace {

// A date is written by the year, the month and the day: the order of texts is that of dates.
constexpr std::string_view kFirstDate = "0001-01-01";

Error no_date(const char* name) {
  return error(ErrorCode::invalid,
               std::string("`") + name + "` is not a date: write it as YYYY-MM-DD.");
}

}  // namespace

Result<std::vector<UsageDay>> daily_series(std::span<const UsageDay> stored, std::string_view agent,
                                           std::string_view last_date, std::int64_t days) {
  if (days < 1 || days > series_days_max) {
    return error(ErrorCode::invalid,
                 "`days` must be 1 to " + std::to_string(series_days_max) + ".");
  }
  if (!is_date(last_date)) return no_date("last_date");
  std::vector<UsageDay> series(static_cast<std::size_t>(days));
  std::string date(last_date);
  std::map<std::string_view, UsageTotals*> by_date;
  for (auto day = series.rbegin(); day != series.rend(); ++day) {
    if (date.empty()) return error(ErrorCode::invalid, "The series would start before the year 1.");
    day->agent = agent;
    day->date = date;
    by_date.emplace(day->date, &day->totals);
    date = date == kFirstDate ? std::string() : day_before(date);
  }
  for (const UsageDay& day : stored) {
    if (!agent.empty() && day.agent != agent) continue;
    auto found = by_date.find(day.date);
    if (found != by_date.end()) found->second->merge(day.totals);
  }
  return series;
}

Result<std::vector<AgentUsage>> usage_by_agent(std::span<const UsageDay> stored,
                                               std::string_view first_date,
                                               std::string_view last_date) {
  if (!is_date(first_date)) return no_date("startDate");
  if (!is_date(last_date)) return no_date("endDate");
  if (last_date < first_date) {
    return error(ErrorCode::invalid, "`endDate` is before `startDate`: exchange them.");
  }
  std::map<std::string, UsageTotals> by_agent;
  for (const UsageDay& day : stored) {
    if (day.date < first_date || day.date > last_date) continue;
    by_agent[day.agent].merge(day.totals);
  }
  std::vector<AgentUsage> agents;
  agents.reserve(by_agent.size());
  for (auto& [agent, totals] : by_agent) agents.push_back(AgentUsage{agent, std::move(totals)});
  return agents;
}

}  // namespace belay::analytics
