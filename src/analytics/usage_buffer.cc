#include "analytics/usage_buffer.h"

namespace belay::analytics {

void UsageBuffer::add(const InvocationRecord& record) {
  UsageDay day = usage_day_of(record);
  row_of(day.date, day.agent).merge(day.totals);
}

std::vector<UsageDay> UsageBuffer::take() {
  std::vector<UsageDay> days;
  days.reserve(rows_.size());
  for (auto& [key, totals] : rows_) {
    days.push_back(UsageDay{key.second, key.first, std::move(totals)});
  }
  rows_.clear();
  other_rows_ = 0;
  return days;
}

void UsageBuffer::put_back(std::span<const UsageDay> days) {
  for (const UsageDay& day : days) row_of(day.date, day.agent).merge(day.totals);
}

std::int64_t UsageBuffer::invocations() const {
  std::int64_t sum = 0;
  for (const auto& [key, totals] : rows_) sum = added(sum, totals.invocations());
  return sum;
}

UsageTotals& UsageBuffer::row_of(const std::string& date, const std::string& agent) {
  if (agent == other_agents) return other_row_of(date);
  auto found = rows_.find(Key{date, agent});
  if (found != rows_.end()) return found->second;
  if (rows_.size() - other_rows_ >= rows_max_) return other_row_of(date);
  return rows_[Key{date, agent}];
}

UsageTotals& UsageBuffer::other_row_of(const std::string& date) {
  Key key{date, std::string(other_agents)};
  auto found = rows_.find(key);
  if (found != rows_.end()) return found->second;
  if (other_rows_ < other_days_max) {
    ++other_rows_;
    return rows_[key];
  }
  auto last = rows_.rbegin();
  while (last->first.second != other_agents) ++last;
  return last->second;
}

}  // namespace belay::analytics
