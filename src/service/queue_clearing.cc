#include "service/queue_clearing.h"

#include "belay/limits.h"

namespace belay {
namespace {

// The commit of its start is the only one of a run that no process has claimed.
constexpr std::uint64_t kStartSeq = 1;

// True if this call has cancelled the run; false if it has ended or was deleted meanwhile.
Task<Result<bool>> cancel_queued(Service& service, const Principal& who, RunRow run,
                                 std::string by) {
  auto cancelled = co_await service.cancel(who, std::move(run.thread), std::move(by), "", run.run);
  if (cancelled.ok()) co_return true;
  ErrorCode code = cancelled.error().code;
  if (code == ErrorCode::conflict || code == ErrorCode::not_found) co_return false;
  co_return std::move(cancelled).error();
}

}  // namespace

Task<Result<ClearedQueue>> clear_queue(Service& service, const Principal& who,
                                       QueueClearing clearing) {
  BELAY_CO_CHECK(check_name("queue's name", clearing.queue));
  ClearedQueue cleared;
  std::optional<RunId> before;
  while (true) {
    RunPage page;
    page.statuses = {RunStatus::queued};
    page.limit = limits::page_rows_max;
    page.before = before;
    BELAY_CO_TRY(std::vector<RunRow> rows, co_await service.runs(who, std::move(page)));
    bool is_last = rows.size() < limits::page_rows_max;
    if (!is_last) before = rows.back().run;
    for (RunRow& row : rows) {
      if (row.queue != clearing.queue || row.seq > kStartSeq) continue;
      ++cleared.queued;
      if (clearing.dry_run) continue;
      std::string by = clearing.by;
      BELAY_CO_TRY(bool is_cancelled,
                   co_await cancel_queued(service, who, std::move(row), std::move(by)));
      if (is_cancelled) ++cleared.cancelled;
    }
    if (is_last) co_return cleared;
  }
}

Value cleared_queue_document(const QueueClearing& clearing, const ClearedQueue& cleared) {
  return Value::object({{"name", clearing.queue},
                        {"queued", cleared.queued},
                        {"cancelled", cleared.cancelled},
                        {"dryRun", clearing.dry_run}});
}

}  // namespace belay
