#pragma once
// analytics/usage_buffer.h - UsageBuffer: the totals that have not been written to the store.
//
//   buffer.add(record);                               // at the end of a run
//   std::vector<UsageDay> deltas = buffer.take();     // at each interval, and at the end
//   if (!written.ok()) buffer.put_back(deltas);       // the next interval writes them
//
// A buffer contains one row for each agent and day, however many invocations there are. It neither
// drops nor rejects one. Above its maximum of rows, an agent that has no row for the day is counted
// under other_agents, so that the sums of all agents remain correct.
//
// Threading: the executor's thread. No method waits.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analytics/usage.h"

namespace belay::analytics {

class UsageBuffer {
 public:
  // Rows of agents and days. Each needs some hundred bytes, and some 50 bytes for each of its
  // buckets: 1,000 rows with latencies from 1 ms to 1 h need at most 40 MB, usually 1 MB.
  static constexpr std::size_t rows_max_default = 1'000;
  // Maximum number of days of other_agents, in addition. Further days are counted under the last
  // of them: only a clock that jumps through years makes so many.
  static constexpr std::size_t other_days_max = 400;

  explicit UsageBuffer(std::size_t rows_max = rows_max_default) : rows_max_(rows_max) {}

  void add(const InvocationRecord& record);

  // Returns the rows by date, then by agent, and removes them from the buffer.
  std::vector<UsageDay> take();
  // Adds rows that take() returned and that were not written. Invocations that were added since
  // then are merged with them.
  void put_back(std::span<const UsageDay> days);

  bool is_empty() const { return rows_.empty(); }
  std::size_t size() const { return rows_.size(); }  // rows
  // The number of invocations in the buffer.
  std::int64_t invocations() const;

 private:
  using Key = std::pair<std::string, std::string>;  // date, agent

  UsageTotals& row_of(const std::string& date, const std::string& agent);
  UsageTotals& other_row_of(const std::string& date);

  const std::size_t rows_max_;
  std::map<Key, UsageTotals> rows_;
  std::size_t other_rows_ = 0;  // those of other_agents
};

}  // namespace belay::analytics
