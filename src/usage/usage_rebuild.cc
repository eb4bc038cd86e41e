#include "usage/usage_rebuild.h"

#include "driver/run_driver.h"
#include "usage/usage_flush.h"
#include "usage/usage_log.h"

namespace belay::usage {
namespace {

constexpr int kRebuildTriesMax = 20;

struct RebuiltDay {
  StoredDay stored;
  analytics::UsageTotals from_runs;
  // Those that `from_runs` counts. Pending invocations of deleted runs remain for the next flush.
  std::vector<Versioned<PendingInvocation>> pending;

  // The runs of the store that the stored totals can count: all but the pending ones.
  std::int64_t added_runs_max() const {
    return from_runs.invocations() - static_cast<std::int64_t>(pending.size());
  }
};
struct RebuiltDays {
  std::size_t runs = 0;
  std::map<std::string, RebuiltDay> by_key;
};

Result<Done> add_runs(Snapshot& view, const TenantId& tenant, RebuiltDays& days) {
  RunFilter filter;
  filter.tenant = tenant;
  filter.statuses = {RunStatus::completed, RunStatus::failed};
  filter.without_input = true;
  while (true) {
    BELAY_TRY(std::vector<RunRow> rows, view.runs(filter));
    for (const RunRow& row : rows) {
      auto ended = invocation_of(row);
      if (!ended) continue;
      BELAY_TRY(analytics::InvocationRecord record, invocation_record(view, tenant, *ended));
      analytics::UsageDay day = analytics::usage_day_of(record);
      RebuiltDay& rebuilt = days.by_key[key_of(day)];
      rebuilt.from_runs.merge(day.totals);
      if (rebuilt.stored.day.date.empty()) {
        BELAY_TRY(rebuilt.stored, stored_day(view, tenant, std::move(day)));
      }
      ++days.runs;
    }
    if (rows.size() < filter.limit) return Done{};
    filter.before = rows.back().run;
  }
}

// Returns the day whose totals from the runs of the store include this one; null if they do not:
// the run was deleted.
Result<RebuiltDay*> day_of(Snapshot& view, const TenantId& tenant, const std::string& run,
                           RebuiltDays& days) {
  RebuiltDay* none = nullptr;
  auto id = uuid_from(run);
  if (!id) return none;
  RunFilter filter;
  filter.tenant = tenant;
  filter.run = RunId(*id);
  filter.limit = 1;
  filter.without_input = true;
  BELAY_TRY(std::vector<RunRow> rows, view.runs(filter));
  if (rows.empty()) return none;
  auto ended = invocation_of(rows.front());
  if (!ended) return none;
  analytics::InvocationRecord record;
  record.agent = ended->agent;
  record.finished_at = ended->ended_at;
  auto found = days.by_key.find(key_of(analytics::usage_day_of(record)));
  return found == days.by_key.end() ? none : &found->second;
}

Result<RebuiltDays> read_days(Snapshot& view, const TenantId& tenant) {
  RebuiltDays days;
  BELAY_CHECK(add_runs(view, tenant, days));
  std::string after;
  while (true) {
    BELAY_TRY(auto page, pending_page(view, tenant, after));
    if (page.empty()) return days;
    after = page.back().record.key();
    for (auto& each : page) {
      BELAY_TRY(RebuiltDay * day, day_of(view, tenant, each.record.run, days));
      if (day) day->pending.push_back(std::move(each));
    }
  }
}

// Returns false if a record has changed since it was read.
Task<Result<bool>> save_day(Store& store, Clock& clock, TenantId tenant, RebuiltDay day) {
  day.stored.day.totals = std::move(day.from_runs);
  std::vector<RecordWrite> writes{day_write(day.stored, clock.now())};
  for (const auto& each : day.pending) writes.push_back(pending_erasure(each));
  auto saved = co_await save_records(store, std::move(tenant), std::move(writes));
  if (saved.ok()) co_return true;
  if (saved.error().code == ErrorCode::conflict) co_return false;
  co_return std::move(saved).error();
}

// Returns nullopt if another process has changed a day meanwhile.
Task<Result<std::optional<RebuildReport>>> rebuild_once(Store& store, Clock& clock,
                                                        TenantId tenant) {
  std::function<Result<RebuiltDays>(Snapshot&)> reader = [tenant](Snapshot& view) {
    return read_days(view, tenant);
  };
  BELAY_CO_TRY(RebuiltDays days, co_await read<RebuiltDays>(store, std::move(reader)));
  RebuildReport report;
  report.runs = days.runs;
  bool is_changed = false;
  for (auto& [key, day] : days.by_key) {
    if (day.added_runs_max() < day.stored.day.totals.invocations()) {
      ++report.kept;
      continue;
    }
    ++report.replaced;
    if (day.from_runs == day.stored.day.totals && day.pending.empty()) continue;
    BELAY_CO_TRY(bool is_saved, co_await save_day(store, clock, tenant, std::move(day)));
    is_changed = is_changed || !is_saved;
  }
  if (is_changed) co_return std::optional<RebuildReport>();
  co_return std::optional(report);
}

}  // namespace

Task<Result<RebuildReport>> rebuild_usage(Store& store, Clock& clock, TenantId tenant) {
  for (int i = 0; i < kRebuildTriesMax; ++i) {
    BELAY_CO_TRY(auto report, co_await rebuild_once(store, clock, tenant));
    if (report) co_return *report;
  }
  co_return error(ErrorCode::unavailable,
                  "Other processes changed the totals while they were rebuilt. Try again.");
}

}  // namespace belay::usage
