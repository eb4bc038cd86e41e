#include "langgraph/run_changes.h"

#include "langgraph/records.h"

namespace belay::langgraph {
namespace {

using server::Call;

// The record of a thread that loses its runs, and exists without them.
ThreadRecord remaining_thread(const ThreadView& view, Instant now) {
  ThreadRecord record;
  if (view.record) record = *view.record;
  record.id = view.id.text;
  record.metadata = view.metadata();
  record.created_at = view.created_at();
  record.updated_at = now;
  record.has_begun = false;
  return record;
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

Task<Result<Done>> keep_thread(AgentServer& served, const Call& call, ThreadView view) {
  ThreadRecord remaining = remaining_thread(view, served.world.parts.clock.now());
  std::vector<RecordWrite> writes;
  BELAY_CO_CHECK(add_write(writes, remaining, view.user));
  co_return co_await call.service.save_records(call.who, std::move(writes));
}

Task<Done> keep_no_longer(AgentServer& served, const Call& call, ThreadId thread, Error refused) {
  // After the others, the run can exist.
  bool is_refused = refused.code != ErrorCode::unavailable && refused.code != ErrorCode::uncertain;
  if (!is_refused) co_return Done{};
  auto view = co_await find_thread(served.world, call, std::move(thread));
  if (!view.ok() || !view->record) co_return Done{};
  if (view->listed) {
    Value none = Value(Value::Object{});
    (void)co_await change_thread_metadata(served.world, call, *std::move(view), std::move(none));
    co_return Done{};
  }
  // Otherwise, the start itself has deleted the runs: the thread remains.
  if (refused.code != ErrorCode::not_found) co_return Done{};
  co_return co_await erase_thread_record(call, std::move(view->id), std::move(view->user),
                                         view->record_version);
}

Task<Result<Done>> delete_run(AgentServer& served, const Call& call, ProtocolRun run) {
  BELAY_CO_CHECK(co_await check_only_run(call, run));
  ThreadId thread = run.row.thread;
  BELAY_CO_TRY(ThreadView view, co_await find_thread(served.world, call, std::move(thread)));
  // Saved before the deletion: a crash between them loses nothing of the thread.
  if (!run.record.is_stateless) {
    BELAY_CO_CHECK(co_await keep_thread(served, call, std::move(view)));
  }
  thread = run.row.thread;
  auto deleted = co_await call.service.delete_thread(call.who, std::move(thread));
  // `not_found`: another request has deleted it since the read, and can be stopped before it
  // deletes the rest.
  bool is_deleted = deleted.ok() || deleted.error().code == ErrorCode::not_found;
  if (!is_deleted) co_return std::move(deleted).error();
  thread = run.row.thread;
  UserId user = run.row.user;
  co_return co_await forget_runs(call.service, call.who, std::move(thread), std::move(user));
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
