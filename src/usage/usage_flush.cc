#include "usage/usage_flush.h"

#include "driver/run_driver.h"
#include "usage/usage_log.h"
#include "usage/usage_rebuild.h"

namespace belay::usage {
namespace {

constexpr int kFlushTriesMax = 100;
constexpr std::chrono::milliseconds kAfterConflict{5};

struct FlushBatch {
  std::vector<Versioned<PendingInvocation>> pending;
  std::vector<StoredDay> days;  // with the pending invocations
};

Result<FlushBatch> read_batch(Snapshot& view, const TenantId& tenant) {
  FlushBatch batch;
  BELAY_TRY(batch.pending, pending_page(view, tenant, ""));
  std::vector<analytics::InvocationRecord> records;
  for (const auto& each : batch.pending) {
    BELAY_TRY(analytics::InvocationRecord record, invocation_record(view, tenant, each.record));
    records.push_back(std::move(record));
  }
  for (const analytics::UsageDay& delta : analytics::usage_days_of(records)) {
    BELAY_TRY(StoredDay stored, stored_day(view, tenant, delta));
    stored.day.totals.merge(delta.totals);
    batch.days.push_back(std::move(stored));
  }
  return batch;
}

// Returns whether the store has no totals: by the first record of the collection.
Result<bool> has_no_days(Snapshot& view, const TenantId& tenant) {
  RecordQuery query;
  query.tenant = tenant;
  query.collection = days_collection;
  query.limit = 1;
  BELAY_TRY(std::vector<StoredRecord> rows, view.records(query));
  return rows.empty();
}

}  // namespace

Task<Result<std::size_t>> flush_usage(Store& store, Clock& clock, TenantId tenant) {
  std::size_t count = 0;
  int tries = 0;
  while (true) {
    std::function<Result<FlushBatch>(Snapshot&)> reader = [tenant](Snapshot& view) {
      return read_batch(view, tenant);
    };
    BELAY_CO_TRY(FlushBatch batch, co_await read<FlushBatch>(store, std::move(reader)));
    if (batch.pending.empty()) co_return count;
    std::vector<RecordWrite> writes;
    for (const StoredDay& day : batch.days) writes.push_back(day_write(day, clock.now()));
    for (const auto& each : batch.pending) writes.push_back(pending_erasure(each));
    auto saved = co_await save_records(store, tenant, std::move(writes));
    if (saved.ok()) {
      count += batch.pending.size();
      tries = 0;
      continue;
    }
    bool is_conflict = saved.error().code == ErrorCode::conflict;
    if (!is_conflict || ++tries == kFlushTriesMax) co_return std::move(saved).error();
    co_await sleep_for(kAfterConflict);
  }
}

Task<Result<std::size_t>> flush_all_usage(Store& store, Clock& clock) {
  std::function<Result<std::vector<std::pair<TenantId, bool>>>(Snapshot&)> reader =
      [](Snapshot& view) -> Result<std::vector<std::pair<TenantId, bool>>> {
    std::vector<std::pair<TenantId, bool>> found;
    BELAY_TRY(std::vector<TenantId> tenants, view.tenants());
    for (TenantId& tenant : tenants) {
      BELAY_TRY(bool is_new, has_no_days(view, tenant));
      found.emplace_back(std::move(tenant), is_new);
    }
    return found;
  };
  using Tenants = std::vector<std::pair<TenantId, bool>>;
  BELAY_CO_TRY(Tenants tenants, co_await read<Tenants>(store, std::move(reader)));
  std::size_t count = 0;
  for (auto& [tenant, is_new] : tenants) {
    if (is_new) BELAY_CO_CHECK(co_await rebuild_usage(store, clock, tenant));
    BELAY_CO_TRY(std::size_t flushed, co_await flush_usage(store, clock, tenant));
    count += flushed;
  }
  co_return count;
}

}  // namespace belay::usage
