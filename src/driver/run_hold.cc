#include "driver/run_hold.h"

namespace belay {
namespace {

std::string group_of(const RunRow& run, PlaceOf of) {
  switch (of) {
    case PlaceOf::user:
      return run.user.text;
    case PlaceOf::key:
      return run.concurrency_key;
    case PlaceOf::queue:
      return run.queue;
    case PlaceOf::tenant:
      break;
  }
  return {};
}

std::string_view text_of(PlaceOf of) {
  return of == PlaceOf::key ? std::string_view("concurrency key") : name_of(of);
}

}  // namespace

Result<RunHolds> RunHolds::read(Snapshot& view, const TenantId& tenant, const PlaceLimits& limits,
                                Instant now) {
  RunHolds holds;
  holds.limits_ = limits;
  holds.now_ = now;
  BELAY_TRY(std::vector<QueueRow> rows, view.queues(tenant));
  for (QueueRow& row : rows) {
    std::string name = row.name;
    holds.queues_.emplace(std::move(name), std::move(row));
  }
  for (PlaceOf of : {PlaceOf::user, PlaceOf::key, PlaceOf::queue, PlaceOf::tenant}) {
    BELAY_TRY(std::vector<PlaceCount> counts, view.places(tenant, of));
    for (PlaceCount& each : counts) holds.running_[{of, std::move(each.group)}] = each.running;
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
  auto queue = queues_.find(run.queue);
  const QueueRow* row = queue == queues_.end() ? nullptr : &queue->second;
  if (row && row->paused) return "queue \"" + run.queue + "\" paused";
  return full_place(run, place_guards(run, limits_, row));
}

std::string RunHolds::full_place(const RunRow& run, const std::vector<PlaceGuard>& guards) const {
  for (const PlaceGuard& guard : guards) {
    auto running = running_.find({guard.of, group_of(run, guard.of)});
    if (running == running_.end() || running->second < guard.limit) continue;
    return std::string(text_of(guard.of)) + " limit " + std::to_string(guard.limit);
  }
  return {};
}

}  // namespace belay
