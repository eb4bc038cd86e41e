#include "a2a/push_delivery.h"

#include "a2a/a2a_task.h"

namespace belay::a2a {
namespace {

// Changes with each commit of the run.
std::string mark_of(const RunRow& run) {
  return std::to_string(run.seq) + " " + std::string(name_of(run.status));
}

}  // namespace

// There is work if the task of the config has changed.
Task<Result<std::optional<RunRow>>> PushDelivery::work_on(const A2aPush& push) {
  auto id = uuid_from(push.task);
  if (!id) co_return error(ErrorCode::not_found, "The config has no task.");
  BELAY_CO_TRY(RunRow run, co_await world_.parts.service.run(who_, RunId(*id)));
  bool is_new = push.failures > 0 || mark_of(run) != push.seen;
  if (!is_new) co_return std::optional<RunRow>();
  co_return std::optional(std::move(run));
}

Task<Result<Done>> PushDelivery::perform(Versioned<A2aPush>& push, RunRow& run) {
  BELAY_CO_CHECK(co_await send_changes(push, run));
  push.record.seen = mark_of(run);
  push.record.ended = is_terminal(run);
  co_return Done{};
}

// Sends all changes that the run has had.
Task<Result<Done>> PushDelivery::send_changes(Versioned<A2aPush>& push, const RunRow& run) {
  BELAY_CO_TRY(std::unique_ptr<TaskStream> changes, co_await changes_of(push.record, run));
  while (true) {
    BELAY_CO_TRY(std::optional<TaskResponse> response, co_await changes->next_response());
    if (!response) co_return Done{};
    // A piece of a text: the whole text follows.
    if (!response->id) continue;
    EventId event = *response->id;
    HttpCall call = call_of(push.record, event, response->result);
    BELAY_CO_CHECK(co_await server::deliver_to_receiver(*http_, std::move(call)));
    push.record.delivered = event.text();
    BELAY_CO_CHECK(co_await save_progress(push));
  }
}

// The first change is the task in its current state.
Task<Result<std::unique_ptr<TaskStream>>> PushDelivery::changes_of(const A2aPush& push,
                                                                   const RunRow& run) {
  Service& service = world_.parts.service;
  std::optional<Value> task;
  RunRow row = run;
  EventOptions options;
  options.follow = false;
  options.after = event_id_from(push.delivered);
  if (!options.after) {
    ThreadId thread = run.thread;
    BELAY_CO_TRY(RunView view,
                 co_await service.status(who_, std::move(thread), std::nullopt, run.run));
    TaskForm form{conversations_};
    task = task_of(view, form);
    row = std::move(view.row);
    options.after = after_commit(row.seq);
  }
  BELAY_CO_TRY(std::unique_ptr<EventReader> reader,
               co_await streamed_events(service, who_, row, std::move(options), true));
  StreamedTask streamed{service, conversations_, who_, Value(), std::move(row)};
  co_return std::make_unique<TaskStream>(std::move(streamed), std::move(task), std::move(reader));
}

}  // namespace belay::a2a
