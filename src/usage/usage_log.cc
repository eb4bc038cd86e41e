#include "usage/usage_log.h"

#include "belay/detail/sort_value.h"
#include "graph/call_record.h"

namespace belay::usage {
namespace {

struct SpentByRun {
  std::int64_t input_tokens = 0, output_tokens = 0, cost = 0;
};

void add_call(const EffectRow& row, SpentByRun& sum) {
  if (!is_call_record(row.name) || row.envelope.empty()) return;
  Spending spending = spending_of(row);
  // The run has ended: a reservation without a result counts as spent.
  sum.cost = analytics::added(sum.cost, (spending.spent + spending.reserved).money);
  if (row.status != EffectStatus::done || !is_model_call(row.name)) return;
  auto call = call_record_in(row);
  if (!call.ok() || !call->reply || !call->reply->usage) return;
  sum.input_tokens = analytics::added(sum.input_tokens, call->reply->usage->input_tokens);
  sum.output_tokens = analytics::added(sum.output_tokens, call->reply->usage->output_tokens);
}

Result<SpentByRun> spent_by(Snapshot& view, const TenantId& tenant, const RunId& run) {
  EffectFilter filter;
  filter.tenant = tenant;
  filter.run = run;
  filter.after = std::pair(TaskId(), std::string());
  SpentByRun sum;
  while (true) {
    BELAY_TRY(std::vector<EffectRow> rows, view.effects(filter));
    for (const EffectRow& row : rows) add_call(row, sum);
    if (rows.size() < filter.limit) return sum;
    filter.after = std::pair(rows.back().task, rows.back().name);
  }
}

RecordQuery query_of(const TenantId& tenant, std::string_view collection) {
  RecordQuery query;
  query.tenant = tenant;
  query.collection = collection;
  return query;
}

}  // namespace

std::string key_of(const analytics::UsageDay& day) { return day.date + " " + day.agent; }

Result<analytics::InvocationRecord> invocation_record(Snapshot& view, const TenantId& tenant,
                                                      const PendingInvocation& ended) {
  analytics::InvocationRecord record;
  record.agent = ended.agent;
  record.status =
      ended.failed ? analytics::InvocationStatus::failed : analytics::InvocationStatus::success;
  record.latency = milliseconds(ended.latency_ms);
  record.retries = ended.retries;
  record.finished_at = ended.ended_at;
  auto run = uuid_from(ended.run);
  if (!run) return record;
  BELAY_TRY(SpentByRun spent, spent_by(view, tenant, RunId(*run)));
  record.input_tokens = spent.input_tokens;
  record.output_tokens = spent.output_tokens;
  record.cost = spent.cost;
  return record;
}

Result<std::vector<Versioned<PendingInvocation>>> pending_page(Snapshot& view,
                                                               const TenantId& tenant,
                                                               std::string after) {
  RecordQuery query = query_of(tenant, PendingInvocation::collection);
  query.after = std::move(after);
  query.limit = limits::bounded(200);
  BELAY_TRY(std::vector<StoredRecord> rows, view.records(query));
  std::vector<Versioned<PendingInvocation>> page;
  for (const StoredRecord& row : rows) {
    BELAY_TRY(std::string_view text, json_in_envelope(row.envelope));
    BELAY_TRY(Value value, parse_json(text));
    BELAY_TRY(PendingInvocation ended, decode_json<PendingInvocation>(value));
    page.push_back({std::move(ended), row.version});
  }
  return page;
}

Result<StoredDay> stored_day(Snapshot& view, const TenantId& tenant, analytics::UsageDay key) {
  RecordQuery query = query_of(tenant, days_collection);
  query.key = key_of(key);
  BELAY_TRY(std::vector<StoredRecord> rows, view.records(query));
  StoredDay stored;
  stored.day.agent = std::move(key.agent);
  stored.day.date = std::move(key.date);
  if (rows.empty()) return stored;
  BELAY_TRY(std::string_view text, json_in_envelope(rows.front().envelope));
  BELAY_TRY(Value value, parse_json(text));
  BELAY_TRY(stored.day, analytics::usage_day_from(value));
  const std::string* created = value["created_at"].as_string();
  if (created) stored.created_at = instant_from(*created).value_or(Instant());
  stored.version = rows.front().version;
  return stored;
}

Result<analytics::UsageDay> day_in(std::string_view json) {
  BELAY_TRY(Value value, parse_json(json));
  return analytics::usage_day_from(value);
}

RecordWrite day_write(const StoredDay& stored, Instant now) {
  const analytics::UsageDay& day = stored.day;
  Value row = analytics::to_value(day);
  bool is_new = stored.created_at == Instant();
  row.as_object()->emplace("created_at", to_text(is_new ? now : stored.created_at));
  RecordWrite write;
  write.collection = days_collection;
  write.is_of_tenant = true;
  write.key = key_of(day);
  write.json = to_json(row);
  write.indexed = {{"order:date", detail::sort_value(day.date, day.agent)},
                   {"order:agent", detail::sort_value(day.agent, day.date)}};
  write.expected_version = stored.version;
  return write;
}

RecordWrite pending_erasure(const Versioned<PendingInvocation>& counted) {
  RecordWrite write = record_erasure(PendingInvocation::collection, UserId(), counted.record.key());
  write.is_of_tenant = true;
  write.expected_version = counted.version;
  return write;
}

}  // namespace belay::usage
