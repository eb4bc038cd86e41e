#include "usage/usage_reads.h"

#include "belay/collection.h"
#include "usage/usage_log.h"

namespace belay::usage {
namespace {

using analytics::AgentUsage;
using analytics::UsageDay;

// Reads all pages of the span.
Task<Result<std::vector<UsageDay>>> read_days_of(Records& records, RecordSpan span) {
  std::vector<UsageDay> days;
  while (true) {
    RecordFilter filter = span.filter();
    filter.collection = days_collection;
    filter.is_of_tenant = true;
    std::size_t limit = filter.limit;
    BELAY_CO_TRY(std::vector<RecordRow> rows, co_await records.find(std::move(filter)));
    for (const RecordRow& row : rows) {
      BELAY_CO_TRY(UsageDay day, day_in(row.json));
      days.push_back(std::move(day));
    }
    if (rows.size() < limit) co_return std::move(days);
    span.after(rows.back().sort_value + ' ' + rows.back().key);
  }
}

Value document_of(const analytics::UsageTotals& totals) {
  Value::Object members;
  analytics::add_totals(totals, members);
  Value::Object named;
  for (const auto& [column, member] : std::initializer_list<std::pair<const char*, const char*>>{
           {"invocation_count", "invocationCount"},
           {"success_count", "successCount"},
           {"error_count", "errorCount"},
           {"total_input_tokens", "totalInputTokens"},
           {"total_output_tokens", "totalOutputTokens"},
           {"total_cost", "totalCost"},
           {"total_latency_ms", "totalLatencyMs"},
           {"total_retries", "totalRetries"},
           {"min_latency_ms", "minLatencyMs"},
           {"max_latency_ms", "maxLatencyMs"},
           {"avg_latency_ms", "avgLatencyMs"},
           {"p50_latency_ms", "p50LatencyMs"},
           {"p95_latency_ms", "p95LatencyMs"}}) {
    named.emplace(member, std::move(members[column]));
  }
  return Value(std::move(named));
}

}  // namespace

Task<Result<std::vector<AgentUsage>>> read_summary(Records& records, std::string first_date,
                                                   std::string last_date) {
  // Checks the period before anything is read.
  BELAY_CO_CHECK(analytics::usage_by_agent({}, first_date, last_date));
  RecordSpan span("date");
  span.from(first_date).until(last_date + "~");
  BELAY_CO_TRY(std::vector<UsageDay> days, co_await read_days_of(records, std::move(span)));
  co_return analytics::usage_by_agent(days, first_date, last_date);
}

Task<Result<std::vector<UsageDay>>> read_series(Records& records, std::string agent,
                                                std::string last_date, std::int64_t days) {
  BELAY_CO_TRY(std::vector<UsageDay> empty, analytics::daily_series({}, agent, last_date, days));
  std::string first_date = empty.front().date;
  RecordSpan span(agent.empty() ? "date" : "agent");
  if (agent.empty()) span.from(first_date).until(last_date + "~");
  if (!agent.empty()) span.from(agent, first_date).until(agent, last_date + "~");
  BELAY_CO_TRY(std::vector<UsageDay> stored, co_await read_days_of(records, std::move(span)));
  co_return analytics::daily_series(stored, agent, last_date, days);
}

Value summary_document(const std::vector<AgentUsage>& agents) {
  Value::Array summary;
  for (const AgentUsage& each : agents) {
    Value entry = document_of(each.totals);
    entry.as_object()->emplace("agentId", each.agent);
    summary.push_back(std::move(entry));
  }
  return Value::object({{"summary", std::move(summary)}});
}

Value series_document(const std::string& agent, const std::vector<UsageDay>& series) {
  Value::Array usage;
  for (const UsageDay& day : series) {
    Value entry = document_of(day.totals);
    entry.as_object()->emplace("date", day.date);
    usage.push_back(std::move(entry));
  }
  return Value::object({{"agentId", agent}, {"usage", std::move(usage)}});
}

}  // namespace belay::usage
