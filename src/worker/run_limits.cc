#include "worker/run_limits.h"

#include "belay/limits.h"
#include "worker/run_hold.h"

namespace belay {
namespace {

// Queue rows change rarely: they are cached for this time.
constexpr std::chrono::seconds queues_known_for{1};

}  // namespace

void RunLimits::notify_workers(const TenantId& tenant) {
  if (parts_.hints.work_notifier) parts_.hints.work_notifier->notify(tenant.text);
}

Task<Result<Done>> RunLimits::check_queue(TenantId tenant) {
  std::size_t limit = parts_.process_limits.queued;
  if (limit == 0) co_return Done{};
  std::function<Result<std::size_t>(Snapshot&)> reader =
      [tenant, limit](Snapshot& view) -> Result<std::size_t> {
    RunFilter filter;
    filter.tenant = tenant;
    filter.statuses = {RunStatus::queued};
    filter.limit = limit;
    BELAY_TRY(auto rows, view.runs(filter));
    return rows.size();
  };
  EnteringRuns::Check check(entering_, tenant);
  auto queued = co_await read<std::size_t>(parts_.store, std::move(reader));
  if (!queued.ok()) co_return std::move(queued).error();
  std::size_t taken = *queued + check.others();
  if (taken < limit) co_return Done{};
  Error full =
      error(ErrorCode::unavailable, "Queue limit reached: the tenant has " + std::to_string(limit) +
                                        " queued runs. Try again later.");
  full.retry_after = limits::busy_retry_after;
  co_return std::move(full);
}

Task<Result<CommitOutcome>> RunLimits::put_into_queue(Commit commit) {
  TenantId tenant = commit.tenant;
  EnteringRuns::Entry entry(entering_, tenant);
  auto outcome = co_await parts_.store.commit(std::move(commit));
  if (outcome.ok() && *outcome == CommitOutcome::applied) notify_workers(tenant);
  co_return std::move(outcome);
}

Task<Error> RunLimits::limit_reached(RunRow row, std::vector<ConcurrencyGuard> guards) {
  std::function<Result<std::string>(Snapshot&)> reader =
      [row, guards = std::move(guards)](Snapshot& view) -> Result<std::string> {
    BELAY_TRY(RunHolds holds, RunHolds::read(view, row.tenant, ConcurrencyLimits{}, Instant{}));
    return holds.full_place(row, guards);
  };
  auto held_by = co_await read<std::string>(parts_.store, std::move(reader));
  // The run that used the last capacity might have ended since.
  bool is_known = held_by.ok() && !held_by->empty();
  Error full = error(
      ErrorCode::unavailable,
      "Concurrency limit reached for thread \"" + row.thread.text +
          "\": " + (is_known ? *held_by : "its user, concurrency key or queue is at its limit") +
          ". Try again later.");
  full.retry_after = limits::busy_retry_after;
  co_return std::move(full);
}

Task<Result<Done>> RunLimits::refresh_queues(TenantId tenant) {
  Instant now = parts_.clock.now();
  auto known = queues_.find(tenant);
  if (known != queues_.end() && now - known->second.as_of < queues_known_for) co_return Done{};
  std::function<Result<std::vector<QueueRow>>(Snapshot&)> reader = [tenant](Snapshot& view) {
    return view.queues(tenant);
  };
  auto rows = co_await read<std::vector<QueueRow>>(parts_.store, std::move(reader));
  if (!rows.ok()) co_return std::move(rows).error();
  KnownQueues& queues = queues_[tenant];
  queues.as_of = now;
  queues.rows.clear();
  for (QueueRow& row : *rows) {
    std::string name = row.name;
    queues.rows.emplace(std::move(name), std::move(row));
  }
  co_return Done{};
}

Task<Result<std::vector<ConcurrencyGuard>>> RunLimits::guards_of(RunRow row, bool by_person) {
  // A start in the default queue without a concurrency key must not cost a read of the queues.
  bool is_plain = by_person && row.queue == default_queue && row.concurrency_key.empty();
  if (!is_plain) {
    auto learnt = co_await refresh_queues(row.tenant);
    if (!learnt.ok()) co_return std::move(learnt).error();
  }
  const auto& rows = queues_[row.tenant].rows;
  auto queue = rows.find(row.queue);
  ConcurrencyLimits limits = parts_.concurrency;
  if (by_person && !parts_.concurrency_limits_starts) limits.per_user = 0;
  co_return concurrency_guards(row, limits, queue == rows.end() ? nullptr : &queue->second);
}

}  // namespace belay
