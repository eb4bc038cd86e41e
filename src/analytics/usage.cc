#include "analytics/usage.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace belay::analytics {
namespace {

// A sum of UsageTotals and the name of its stored member.
struct Sum {
  const char* name;
  std::int64_t UsageTotals::* member;
};

constexpr std::array kSums = {
    Sum{"success_count", &UsageTotals::success},
    Sum{"error_count", &UsageTotals::failed},
    Sum{"total_input_tokens", &UsageTotals::input_tokens},
    Sum{"total_output_tokens", &UsageTotals::output_tokens},
    Sum{"total_cost", &UsageTotals::cost},
    Sum{"total_latency_ms", &UsageTotals::latency_ms},
    Sum{"total_retries", &UsageTotals::retries},
};

bool is_agent_name(std::string_view name) {
  return !name.empty() && name.size() <= agent_bytes_max && name.find('\0') == name.npos &&
         !first_invalid_utf8(name);
}

Error corrupt_day(const std::string& fault) {
  return error(ErrorCode::corrupt, "A stored day of usage is damaged: " + fault +
                                       ". Rebuild it from the execution log.");
}

Value whole(std::optional<double> number) {
  if (!number) return Value();
  return Value(static_cast<std::int64_t>(
      std::llround(std::clamp(*number, 0.0, static_cast<double>(amount_max)))));
}

Value integer_or_null(std::optional<std::int64_t> number) {
  return number ? Value(*number) : Value();
}

using DaysByKey = std::map<std::pair<std::string, std::string>, UsageTotals>;

std::vector<UsageDay> days_of(DaysByKey by_key) {
  std::vector<UsageDay> days;
  days.reserve(by_key.size());
  for (auto& [key, totals] : by_key) {
    days.push_back(UsageDay{key.second, key.first, std::move(totals)});
  }
  return days;
}

std::string agent_of(const InvocationRecord& record) {
  return is_agent_name(record.agent) ? record.agent : std::string(other_agents);
}

}  // namespace

void UsageTotals::add(const InvocationRecord& record) {
  bool is_success = record.status == InvocationStatus::success;
  std::int64_t latency_of_one = std::clamp<std::int64_t>(record.latency.count(), 0, amount_max);
  success = added(success, is_success ? 1 : 0);
  failed = added(failed, is_success ? 0 : 1);
  input_tokens = added(input_tokens, record.input_tokens);
  output_tokens = added(output_tokens, record.output_tokens);
  cost = added(cost, record.cost);
  latency_ms = added(latency_ms, latency_of_one);
  retries = added(retries, record.retries);
  latency.add(latency_of_one);
}

void UsageTotals::merge(const UsageTotals& other) {
  for (const Sum& sum : kSums) this->*sum.member = added(this->*sum.member, other.*sum.member);
  latency.merge(other.latency);
}

std::optional<double> UsageTotals::average(std::int64_t sum) const {
  if (invocations() == 0) return std::nullopt;
  return static_cast<double>(sum) / static_cast<double>(invocations());
}

std::string utc_date(Instant instant) {
  using std::chrono::sys_days;
  constexpr Instant first = sys_days(std::chrono::year(1) / 1 / 1);
  constexpr Instant last = sys_days(std::chrono::year(9999) / 12 / 31);
  return to_text(std::clamp(instant, first, last)).substr(0, 10);
}

UsageDay usage_day_of(const InvocationRecord& record) {
  UsageDay day{agent_of(record), utc_date(record.finished_at)};
  day.totals.add(record);
  return day;
}

std::vector<UsageDay> usage_days_of(std::span<const InvocationRecord> records) {
  DaysByKey by_key;
  for (const InvocationRecord& record : records) {
    by_key[{utc_date(record.finished_at), agent_of(record)}].add(record);
  }
  return days_of(std::move(by_key));
}

std::vector<UsageDay> merged_days(std::span<const UsageDay> days) {
  DaysByKey by_key;
  for (const UsageDay& day : days) by_key[{day.date, day.agent}].merge(day.totals);
  return days_of(std::move(by_key));
}

void add_totals(const UsageTotals& totals, Value::Object& members) {
  members.emplace("invocation_count", totals.invocations());
  for (const Sum& sum : kSums) members.emplace(sum.name, totals.*sum.member);
  members.emplace("min_latency_ms", integer_or_null(totals.latency.least()));
  members.emplace("max_latency_ms", integer_or_null(totals.latency.most()));
  members.emplace("avg_latency_ms", whole(totals.average(totals.latency_ms)));
  members.emplace("p50_latency_ms", whole(totals.latency.p50()));
  members.emplace("p95_latency_ms", whole(totals.latency.p95()));
}

Value to_value(const UsageDay& day) {
  Value::Object members{{"agent_id", day.agent}, {"date", day.date}};
  add_totals(day.totals, members);
  members.emplace("latency_sketch", day.totals.latency.to_value());
  return Value(std::move(members));
}

Result<UsageDay> usage_day_from(const Value& value) {
  UsageDay day;
  const std::string* agent = value["agent_id"].as_string();
  const std::string* date = value["date"].as_string();
  if (!agent || !is_agent_name(*agent)) return corrupt_day("it names no agent");
  if (!date || !is_date(*date)) return corrupt_day("it has no date");
  day.agent = *agent;
  day.date = *date;
  for (const Sum& sum : kSums) {
    const Value& member = value[sum.name];
    auto number = member.holds_integer() ? member.as_int() : std::nullopt;
    if (!number || *number < 0 || *number > amount_max) {
      return corrupt_day("`" + std::string(sum.name) + "` is not an integer from 0 to 2^62 - 1");
    }
    day.totals.*sum.member = *number;
  }
  BELAY_TRY(day.totals.latency, QuantileSketch::from_value(value["latency_sketch"]));
  if (day.totals.latency.count() != std::min(day.totals.invocations(), amount_max)) {
    return corrupt_day("its sketch counts other invocations than its sums");
  }
  return day;
}

}  // namespace belay::analytics
