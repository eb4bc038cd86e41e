#include "worker/run_hold.h"

namespace belay {
namespace {

std::string group_of(const RunRow& run, ConcurrencyScope of) {
  switch (of) {
    case ConcurrencyScope::user:
      return run.user.text;
    case ConcurrencyScope::key:
      return run.concurrency_key;
    case ConcurrencyScope::queue:
      return run.queue;
    case ConcurrencyScope::tenant:
      break;
  }
  return {};
}

std::string_view text_of(ConcurrencyScope of) {
  return of == ConcurrencyScope::key ? std::string_view("concurrency key") : name_of(of);
}

}  // namespace

Result<RunHolds> RunHolds::read(Snapshot& view, const TenantId& tenant,
                                const ConcurrencyLimits& limits, Instant now) {
  RunHolds holds;
  holds.limits_ = limits;
  holds.now_ = now;
  BELAY_TRY(std::vector<QueueRow> rows, view.queues(tenant));
  for (QueueRow& row : rows) {
    std::string name = row.name;
    holds.queues_.emplace(std::move(name), std::move(row));
  }
  for (ConcurrencyScope of : {ConcurrencyScope::user, ConcurrencyScope::key,
                              ConcurrencyScope::queue, ConcurrencyScope::tenant}) {
    BELAY_TRY(std::vector<ConcurrencyCount> counts, view.running_counts(tenant, of));
    for (ConcurrencyCount& each : counts)
      holds.running_[{of, std::move(each.scope_key)}] = each.running;
  }
  return holds;
}

std::string RunHolds::time_of(const RunRow& run, Instant now) {
  if (run.status != RunStatus::queued || run.due_at <= now) return {};
  return "due at " + to_text(run.due_at);
}

std::string RunHolds::of(const RunRow& run) const {
  if (run.status != RunStatus::queued) return {};
  if (std::string time = time_of(run, now_); !time.empty()) return time;
  const QueueRow* row = queue_row(run.queue);
  if (row && row->paused) return "queue \"" + run.queue + "\" paused";
  return full_place(run, concurrency_guards(run, limits_, row));
}

std::string RunHolds::full_place(const RunRow& run,
                                 const std::vector<ConcurrencyGuard>& guards) const {
  for (const ConcurrencyGuard& guard : guards) {
    if (running_in(run, guard.scope) < guard.limit) continue;
    return std::string(text_of(guard.scope)) + " limit " + std::to_string(guard.limit);
  }
  return {};
}

std::vector<RunHolds::FullLimit> RunHolds::full_limits(const RunRow& run) const {
  std::vector<FullLimit> full;
  for (const ConcurrencyGuard& guard : concurrency_guards(run, limits_, queue_row(run.queue))) {
    std::uint64_t running = running_in(run, guard.scope);
    if (running >= guard.limit) full.push_back({guard.scope, guard.limit, running});
  }
  return full;
}

bool RunHolds::is_paused(const std::string& queue) const {
  const QueueRow* row = queue_row(queue);
  return row && row->paused;
}

const QueueRow* RunHolds::queue_row(const std::string& name) const {
  auto found = queues_.find(name);
  return found == queues_.end() ? nullptr : &found->second;
}

std::uint64_t RunHolds::running_in(const RunRow& run, ConcurrencyScope scope) const {
  auto found = running_.find({scope, group_of(run, scope)});
  return found == running_.end() ? 0 : found->second;
}

}  // namespace belay
