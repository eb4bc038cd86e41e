#pragma once
// analytics/usage.h - InvocationRecord: one ended run of an agent; UsageDay: the totals of an agent
// and a UTC day.
//
//   UsageDay delta = usage_day_of(record);
//   stored.totals.merge(delta.totals);  // inside the transaction that reads and writes `stored`
//
// Totals are sums, a sketch and nothing else: they are added in any order and grouping, with the
// same result. Averages and quantiles are computed from them when they are read. An average of
// averages, or of quantiles, would be wrong.
//
// Sums saturate at amount_max. Numbers below 0, which a clock that was set back or a provider can
// produce, count as 0.
//
// Threading: values.

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analytics/quantile_sketch.h"
#include "belay/clock.h"
#include "belay/limits.h"
#include "belay/result.h"
#include "belay/value.h"

namespace belay::analytics {

enum class InvocationStatus { success, failed };

// An ended run. A cancelled run is neither a success nor a failure: it has no record.
struct InvocationRecord {
  std::string agent;
  std::string user;  // for filters of the records; the totals of a day contain no user
  InvocationStatus status = InvocationStatus::success;
  std::int64_t input_tokens = 0;  // 0 also if no provider counted them
  std::int64_t output_tokens = 0;
  std::int64_t cost = 0;  // in millionths of the unit of the prices, as Cost::money
  milliseconds latency{0};
  std::int64_t retries = 0;  // failed attempts of nodes that were repeated
  Instant finished_at{};     // determines the day
  friend bool operator==(const InvocationRecord&, const InvocationRecord&) = default;
};

struct UsageTotals {
  std::int64_t success = 0;
  std::int64_t failed = 0;
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t cost = 0;        // in millionths of the unit of the prices
  std::int64_t latency_ms = 0;  // sum
  std::int64_t retries = 0;
  QuantileSketch latency = {};  // in milliseconds, of successes and failures

  void add(const InvocationRecord& record);
  // Adds the totals of `other`. Commutative and associative.
  void merge(const UsageTotals& other);

  // success + failed, exactly.
  std::int64_t invocations() const { return success + failed; }
  // Returns `sum` for each invocation: totals.average(totals.latency_ms). Unset without
  // invocations.
  std::optional<double> average(std::int64_t sum) const;
  // Returns the share of failed invocations, 0 to 1. Unset without invocations.
  std::optional<double> failure_rate() const { return average(failed); }

  friend bool operator==(const UsageTotals&, const UsageTotals&) = default;
};

struct UsageDay {
  std::string agent;
  std::string date;  // UTC, YYYY-MM-DD
  UsageTotals totals = {};
  friend bool operator==(const UsageDay&, const UsageDay&) = default;
};

// The agent under which totals are counted whose own name cannot be stored: empty, longer than
// agent_bytes_max, not UTF-8, with U+0000.
inline constexpr std::string_view other_agents = "(other)";
// With a date, the name is the key of a record, which has limits::identifier_bytes_max bytes.
inline constexpr std::size_t agent_bytes_max = limits::identifier_bytes_max - 11;

// Returns the day of `instant` in UTC; an instant outside of the years 1 to 9999 has the nearest.
std::string utc_date(Instant instant);

// Returns the totals of one invocation.
UsageDay usage_day_of(const InvocationRecord& record);
// Returns the totals of invocations in any order, for a rebuild from the execution log: by date,
// then by agent.
std::vector<UsageDay> usage_days_of(std::span<const InvocationRecord> records);
// Returns `days` by date, then by agent; those of the same agent and date are merged into one.
std::vector<UsageDay> merged_days(std::span<const UsageDay> days);

// The stored form: a row of the table `agent_usage_analytics`, without the columns of the store.
//
//   agent_id, date
//   invocation_count = success_count + error_count
//   total_input_tokens, total_output_tokens, total_cost, total_latency_ms, total_retries
//   min_latency_ms, max_latency_ms, avg_latency_ms, p50_latency_ms, p95_latency_ms: null without
//     invocations; the last three are computed from the others, and rounded
//   latency_sketch: QuantileSketch::to_value()
Value to_value(const UsageDay& day);
// Reads the stored form. `corrupt` if a member is missing, has a wrong kind or is out of range, or
// if the sketch counts other invocations than the sums. Ignores computed and unknown members.
Result<UsageDay> usage_day_from(const Value& value);
// Adds the members of the stored form from `invocation_count` on, without the sketch.
void add_totals(const UsageTotals& totals, Value::Object& members);

}  // namespace belay::analytics
