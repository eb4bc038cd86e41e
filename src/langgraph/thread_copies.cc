#include "langgraph/thread_copies.h"

#include "langgraph/records.h"
#include "langgraph/thread_search.h"

namespace belay::langgraph {
namespace {

using server::Call;
using server::Reply;

// The record of the copy; nullopt if it needs none. With a run, the thread of the service has the
// metadata and the expiry.
std::optional<ThreadRecord> record_of_copy(const ThreadView& view, const ThreadId& copied,
                                           Instant now) {
  ThreadRecord record;
  record.id = copied.text;
  record.created_at = record.updated_at = now;
  if (view.record) record.config = view.record->config;
  record.has_begun = view.has_run();
  bool has_config = record.config.as_object() && !record.config.as_object()->empty();
  if (view.has_run()) return has_config ? std::optional(std::move(record)) : std::nullopt;
  record.metadata = view.metadata();
  record.expires = view.expiry();
  return record;
}

Task<Result<Done>> copy_run(const Call& call, const ThreadView& view, ThreadId copied) {
  ForkOptions options;
  options.from = view.id;
  options.thread = std::move(copied);
  options.copy = true;
  auto run = co_await call.service.fork(call.who, std::move(options));
  server::keep_if_begun(call, run);
  if (!run.ok()) co_return std::move(run).error();
  co_return Done{};
}

Task<Result<Done>> save_new_record(const Call& call, const ThreadRecord& record,
                                   const UserId& user) {
  std::vector<RecordWrite> writes;
  BELAY_CO_CHECK(add_write(writes, record, user, 0));
  auto saved = co_await call.service.save_records(call.who, std::move(writes));
  // The same request has made the copy before.
  bool is_sent_again = !saved.ok() && saved.error().code == ErrorCode::conflict;
  if (is_sent_again) co_return Done{};
  co_return std::move(saved);
}

}  // namespace

Task<Result<Reply>> copy_thread(AgentServer& served, Call call) {
  ThreadId thread(call.path.at("threadId"));
  auto view = co_await find_thread(served.world, call, std::move(thread));
  bool is_absent = !view.ok() && view.error().code == ErrorCode::not_found;
  if (is_absent) co_return error(ErrorCode::conflict, view.error().message);
  if (!view.ok()) co_return std::move(view).error();
  ThreadId unnamed;
  UserId user = view->user;
  BELAY_CO_TRY(ThreadId copied, co_await server::thread_to_begin(
                                    served.world, call, std::move(unnamed), std::move(user)));
  ThreadId named = copied;
  if (view->has_run()) BELAY_CO_CHECK(co_await copy_run(call, *view, std::move(named)));
  // After the run: a copy that is refused leaves no thread.
  auto record = record_of_copy(*view, copied, served.world.parts.clock.now());
  if (record) BELAY_CO_CHECK(co_await save_new_record(call, *record, view->user));
  if (view->has_run()) {
    ThreadSettings settings;
    settings.metadata = view->metadata();
    settings.expires_at = view->expiry();
    named = copied;
    BELAY_CO_CHECK(
        co_await call.service.edit_thread(call.who, std::move(named), std::move(settings)));
  }
  BELAY_CO_TRY(ThreadView made, co_await find_thread(served.world, call, std::move(copied)));
  SearchPage whole;
  BELAY_CO_TRY(Value document,
               co_await document_with_state(served, call, std::move(made), std::move(whole)));
  co_return server::reply_with(std::move(document));
}

}  // namespace belay::langgraph
