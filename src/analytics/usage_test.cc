// UsageTotals and UsageDay: their sums, their merges, their stored form and their rows.

#include "analytics/usage.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>

namespace belay::analytics {
namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

Instant instant_of(std::string_view text) { return *instant_from(text); }

InvocationRecord record_of(std::string agent, std::string_view finished_at,
                           std::int64_t latency_ms = 100) {
  InvocationRecord record;
  record.agent = std::move(agent);
  record.finished_at = instant_of(finished_at);
  record.latency = milliseconds(latency_ms);
  return record;
}

// A record of some agents and days with numbers of any size, also negative.
rc::Gen<InvocationRecord> any_record() {
  return rc::gen::exec([] {
    InvocationRecord record;
    record.agent = *rc::gen::element<std::string>("auditor", "routine", "", "\xff");
    record.status = *rc::gen::element(InvocationStatus::success, InvocationStatus::failed);
    record.input_tokens = *rc::gen::arbitrary<std::int64_t>();
    record.output_tokens = *rc::gen::arbitrary<std::int64_t>();
    record.cost = *rc::gen::element<std::int64_t>(-5, 0, 1'234'567, largest);
    record.latency = milliseconds(*rc::gen::arbitrary<std::int64_t>());
    record.retries = *rc::gen::inRange(-1, 4);
    record.finished_at =
        instant_of("2026-11-28T22:00:00Z") + std::chrono::hours(*rc::gen::inRange(0, 72));
    return record;
  });
}

rc::Gen<std::vector<InvocationRecord>> any_records() {
  return rc::gen::container<std::vector<InvocationRecord>>(any_record());
}

TEST(UsageDays, HaveTheSameTotalsHoweverTheRecordsAreSplit) {
  EXPECT_TRUE(rc::check("two parts in any order are the whole", [] {
    auto [one, other] = *rc::gen::pair(any_records(), any_records());
    std::vector<UsageDay> first = usage_days_of(one);
    std::vector<UsageDay> second = usage_days_of(other);
    std::vector<UsageDay> ahead = first;
    ahead.insert(ahead.end(), second.begin(), second.end());
    std::vector<UsageDay> behind = second;
    behind.insert(behind.end(), first.begin(), first.end());
    one.insert(one.end(), other.begin(), other.end());
    RC_ASSERT(merged_days(ahead) == usage_days_of(one));
    RC_ASSERT(merged_days(behind) == usage_days_of(one));
  }));
}

TEST(UsageDays, CountEveryRecordOnceAsSuccessOrFailure) {
  EXPECT_TRUE(rc::check("the sum of all days", [] {
    auto records = *any_records();
    std::int64_t invocations = 0;
    std::int64_t failed = 0;
    for (const UsageDay& day : usage_days_of(records)) {
      RC_ASSERT(day.totals.invocations() == day.totals.success + day.totals.failed);
      RC_ASSERT(day.totals.latency.count() == day.totals.invocations());
      invocations += day.totals.invocations();
      failed += day.totals.failed;
    }
    RC_ASSERT(invocations == static_cast<std::int64_t>(records.size()));
    RC_ASSERT(failed == std::count_if(records.begin(), records.end(), [](const auto& each) {
                return each.status == InvocationStatus::failed;
              }));
  }));
}

TEST(UsageDays, AreReadAsTheyWereWritten) {
  EXPECT_TRUE(rc::check("any day through its text", [] {
    for (const UsageDay& day : usage_days_of(*any_records())) {
      auto value = parse_json(to_json(to_value(day)));
      RC_ASSERT(value.ok());
      auto read = usage_day_from(*value);
      RC_ASSERT(read.ok());
      RC_ASSERT(*read == day);
    }
  }));
}

TEST(UsageDays, BeginAtMidnightOfUtc) {
  EXPECT_EQ(utc_date(instant_of("2026-11-28T23:59:59.999999Z")), "2026-11-28");
  EXPECT_EQ(utc_date(instant_of("2026-11-29T00:00:00Z")), "2026-11-29");
  EXPECT_EQ(utc_date(Instant::min()), "0001-01-01");
  EXPECT_EQ(utc_date(Instant::max()), "9999-12-31");
}

TEST(UsageDays, AreSortedByDateThenByAgent) {
  std::vector<InvocationRecord> records = {
      record_of("b", "2026-11-02T10:00:00Z"), record_of("a", "2026-11-02T10:00:00Z"),
      record_of("z", "2026-11-01T10:00:00Z"), record_of("a", "2026-11-02T09:00:00Z")};
  std::vector<UsageDay> days = usage_days_of(records);
  ASSERT_EQ(days.size(), 3u);
  EXPECT_EQ(days[0].agent, "z");
  EXPECT_EQ(days[1].agent, "a");
  EXPECT_EQ(days[1].totals.invocations(), 2);
  EXPECT_EQ(days[2].agent, "b");
}

TEST(UsageDays, CountNamesThatCannotBeStoredTogether) {
  for (const std::string& name :
       {std::string(), std::string(190, 'a'), std::string("\xc3"), std::string("a\0b", 3)}) {
    EXPECT_EQ(usage_day_of(record_of(name, "2026-11-28T10:00:00Z")).agent, other_agents);
  }
  std::string longest(189, 'a');
  EXPECT_EQ(usage_day_of(record_of(longest, "2026-11-28T10:00:00Z")).agent, longest);
}

TEST(UsageDays, SaturateInsteadOfOverflowing) {
  UsageDay day{"auditor", "2026-11-28"};
  day.totals.success = amount_max;
  day.totals.failed = amount_max - 1;
  day.totals.latency.add(1, amount_max);
  InvocationRecord record = record_of("auditor", "2026-11-28T10:00:00Z", largest);
  record.cost = largest;
  record.input_tokens = std::numeric_limits<std::int64_t>::min();
  record.status = InvocationStatus::failed;
  for (int i = 0; i < 3; ++i) day.totals.add(record);
  day.totals.merge(day.totals);
  EXPECT_EQ(day.totals.invocations(), day.totals.success + day.totals.failed);
  EXPECT_EQ(day.totals.failed, amount_max);
  EXPECT_EQ(day.totals.cost, amount_max);
  EXPECT_EQ(day.totals.latency_ms, amount_max);
  EXPECT_EQ(day.totals.input_tokens, 0);
  EXPECT_EQ(usage_day_from(to_value(day)).value(), day);
}

TEST(UsageDays, AreStoredWithTheColumnsOfTheTable) {
  UsageDay day{"auditor", "2026-11-28"};
  for (std::int64_t latency : {10, 20, 41}) {
    InvocationRecord record = record_of("auditor", "2026-11-28T10:00:00Z", latency);
    record.status = latency == 41 ? InvocationStatus::failed : InvocationStatus::success;
    record.input_tokens = 100;
    record.output_tokens = 7;
    record.cost = 1'500;
    record.retries = latency == 41 ? 2 : 0;
    day.totals.add(record);
  }
  Value row = to_value(day);
  row.as_object()->erase("latency_sketch");
  EXPECT_EQ(to_json(row),
            R"({"agent_id":"auditor","avg_latency_ms":24,"date":"2026-11-28","error_count":1,)"
            R"("invocation_count":3,"max_latency_ms":41,"min_latency_ms":10,"p50_latency_ms":20,)"
            R"("p95_latency_ms":41,"success_count":2,"total_cost":4500,"total_input_tokens":300,)"
            R"("total_latency_ms":71,"total_output_tokens":21,"total_retries":2})");
  EXPECT_DOUBLE_EQ(day.totals.failure_rate().value(), 1.0 / 3);
}

TEST(UsageDays, HaveNoAveragesWithoutInvocations) {
  UsageDay day{"auditor", "2026-11-28"};
  EXPECT_EQ(day.totals.failure_rate(), std::nullopt);
  for (const char* column : {"avg_latency_ms", "p95_latency_ms", "min_latency_ms"}) {
    EXPECT_TRUE(to_value(day)[column].is_null()) << column;
  }
}

TEST(UsageDays, RejectDamagedRows) {
  UsageDay day = usage_day_of(record_of("auditor", "2026-11-28T10:00:00Z"));
  auto is_read = [&day](const char* member, Value value) {
    Value row = to_value(day);
    (*row.as_object())[member] = std::move(value);
    auto read = usage_day_from(row);
    return read.ok() || read.error().code != ErrorCode::corrupt;
  };
  EXPECT_TRUE(is_read("unknown", Value(1)));
  EXPECT_FALSE(is_read("agent_id", Value("")));
  EXPECT_FALSE(is_read("agent_id", Value(7)));
  EXPECT_FALSE(is_read("date", Value("2026-02-30")));
  EXPECT_FALSE(is_read("success_count", Value(-1)));
  EXPECT_FALSE(is_read("success_count", Value(1.5)));
  EXPECT_FALSE(is_read("success_count", Value(2)));
  EXPECT_FALSE(is_read("total_cost", Value(largest)));
  EXPECT_FALSE(is_read("total_retries", Value()));
  EXPECT_FALSE(is_read("latency_sketch", Value()));
  EXPECT_FALSE(usage_day_from(Value("text")).ok());
}

}  // namespace
}  // namespace belay::analytics
