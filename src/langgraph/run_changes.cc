#include "langgraph/run_changes.h"

#include "langgraph/records.h"
#include "langgraph/thread_changes.h"

namespace belay::langgraph {
namespace {

using server::Call;

// The deletion of the runs found no thread. It was deleted as a whole, and does not exist without
// runs, unless another request deletes its runs as well.
Task<Result<Done>> forget_kept(AgentServer& served, const Call& call, ThreadId thread,
                               std::string by) {
  auto now = co_await find_thread(served.world, call, std::move(thread));
  bool is_absent = !now.ok() && now.error().code == ErrorCode::not_found;
  if (is_absent) co_return Done{};
  if (!now.ok()) co_return std::move(now).error();
  bool is_left = now->record && now->record->kept_by == by && !now->listed;
  if (is_left) {
    co_await erase_thread_record(call, std::move(now->id), std::move(now->user),
                                 now->record_version);
  }
  co_return Done{};
}

// False: the thread was changed since it was read, and nothing was deleted.
Task<Result<bool>> delete_run_once(AgentServer& served, const Call& call, const ProtocolRun& run) {
  BELAY_CO_CHECK(co_await check_only_run(call, run));
  ThreadId thread = run.row.thread;
  BELAY_CO_TRY(ThreadView view, co_await find_thread(served.world, call, std::move(thread)));
  bool is_kept_by_other = view.record && view.record->is_kept();
  std::string by = random_uuid(served.world.parts.random).text();
  // Saved before the deletion: a crash between them loses nothing of the thread.
  if (!run.record.is_stateless) {
    std::string keeper = by;
    auto kept = co_await keep_thread(served, call, std::move(view), std::move(keeper));
    bool is_changed = !kept.ok() && kept.error().code == ErrorCode::conflict;
    if (is_changed) co_return false;
    if (!kept.ok()) co_return std::move(kept).error();
  }
  thread = run.row.thread;
  auto deleted = co_await call.service.delete_thread(call.who, std::move(thread));
  // `not_found`: another request has deleted it since the read, and can be stopped before it
  // deletes the rest.
  bool is_absent = !deleted.ok() && deleted.error().code == ErrorCode::not_found;
  if (!deleted.ok() && !is_absent) {
    thread = run.row.thread;
    (void)co_await keep_no_longer(served, call, std::move(thread), std::move(by), deleted.error());
    co_return std::move(deleted).error();
  }
  bool may_be_left = is_absent && !run.record.is_stateless && !is_kept_by_other;
  if (may_be_left) {
    thread = run.row.thread;
    BELAY_CO_CHECK(co_await forget_kept(served, call, std::move(thread), std::move(by)));
  }
  thread = run.row.thread;
  UserId user = run.row.user;
  BELAY_CO_CHECK(co_await forget_runs(call.service, call.who, std::move(thread), std::move(user)));
  co_return true;
}

}  // namespace

Task<Result<Done>> check_only_run(const Call& call, const ProtocolRun& run) {
  RunPage page;
  page.thread = run.row.thread;
  page.limit = 2;
  BELAY_CO_TRY(std::vector<RunRow> rows, co_await call.service.runs(call.who, std::move(page)));
  if (rows.size() < 2) co_return Done{};
  co_return error(ErrorCode::conflict,
                  "Run " + run.record.id +
                      " is one of several runs of its thread, whose states continue each other. "
                      "Delete the thread, or start with the multitask strategy rollback.");
}

Task<Result<Done>> cancel_run(AgentServer& served, const Call& call, ProtocolRun run,
                              bool rolls_back) {
  if (rolls_back) BELAY_CO_CHECK(co_await check_only_run(call, run));
  bool is_over = run.is_superseded || is_final(run.row.status);
  if (!is_over) {
    ThreadId thread = run.row.thread;
    std::string by = call.who.user.text;
    std::string nobody;
    auto cancelled = co_await call.service.cancel(call.who, std::move(thread), std::move(by),
                                                  std::move(nobody), run.row.run);
    // It has ended otherwise meanwhile.
    bool has_ended = !cancelled.ok() && cancelled.error().code == ErrorCode::conflict;
    if (!cancelled.ok() && !has_ended) co_return std::move(cancelled).error();
  }
  if (!rolls_back) co_return Done{};
  co_return co_await delete_run(served, call, std::move(run));
}

Task<Result<Done>> delete_run(AgentServer& served, const Call& call, ProtocolRun run) {
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    BELAY_CO_TRY(bool is_deleted, co_await delete_run_once(served, call, run));
    if (is_deleted) co_return Done{};
  }
  co_return changed_too_often(run.row.thread);
}

Task<Result<Done>> delete_earlier_runs(const Call& call, ThreadView view) {
  if (!view.listed) co_return Done{};
  BELAY_CO_TRY(std::vector<ProtocolRun> runs, co_await runs_of_thread(call, view));
  ThreadId thread = view.id;
  BELAY_CO_CHECK(
      co_await call.service.delete_thread(call.who, std::move(thread), KeptRuns::newest));
  std::vector<RecordWrite> writes;
  for (const ProtocolRun& each : runs) {
    auto left = co_await call.service.run(call.who, each.row.run);
    bool is_deleted = !left.ok() && left.error().code == ErrorCode::not_found;
    if (!left.ok() && !is_deleted) co_return std::move(left).error();
    if (!is_deleted) continue;
    writes.push_back(record_erasure(RunRecord::collection, view.user, each.record.id));
  }
  if (writes.empty()) co_return Done{};
  co_return co_await call.service.save_records(call.who, std::move(writes));
}

}  // namespace belay::langgraph
