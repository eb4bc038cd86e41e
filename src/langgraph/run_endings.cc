#include "langgraph/run_endings.h"

#include "langgraph/records.h"

namespace belay::langgraph {
namespace {

// Longer than the reading of the events of a run that has ended.
constexpr std::chrono::seconds kReadTime{60};
static_assert(kReadTime + server::kDeliveryTimeout < server::kDeliveryClaim);

Error no_longer_there() { return error(ErrorCode::not_found, "The run was not started."); }

std::optional<RunId> run_named(const std::string& text) {
  auto id = uuid_from(text);
  return id ? std::optional(RunId(*id)) : std::nullopt;
}

HttpCall call_of_webhook(const RunEnding& ending, const Value& payload) {
  HttpCall call;
  call.method = "POST";
  call.url = ending.webhook;
  call.headers = {{"Content-Type", "application/json"}, {"Idempotency-Key", ending.id}};
  call.body = to_json(payload);
  call.timeout = server::kDeliveryTimeout;
  call.body_bytes_max = 64u << 10;
  return call;
}

// Reads the events of a run of the protocol that has ended, up to its end.
Task<Result<Done>> read_to_end(RunSegment& segment) {
  std::vector<EventKind> none;
  BELAY_CO_CHECK(co_await segment.open(std::move(none)));
  while (segment.end() == SegmentEnd::none) BELAY_CO_CHECK(co_await segment.next());
  co_return Done{};
}

}  // namespace

Task<Result<bool>> RunEndings::add(RunEnding ending, std::chrono::minutes unseen) {
  Instant now = world_.parts.clock.now();
  ending.created_at = now;
  ending.wake = now + unseen;
  std::vector<RecordWrite> writes;
  BELAY_CO_CHECK(add_write(writes, ending, UserId(), 0));
  auto saved = co_await world_.parts.service.save_records(who_, std::move(writes));
  // The same request was sent before.
  bool is_known = !saved.ok() && saved.error().code == ErrorCode::conflict;
  if (!saved.ok() && !is_known) co_return std::move(saved).error();
  co_return !is_known;
}

Task<Result<Done>> RunEndings::started(std::string expected_id, RunRecord run) {
  std::unique_ptr<Records> records = records_of(world_.parts.service, who_, UserId());
  std::string key = expected_id;
  BELAY_CO_TRY(auto found, co_await records->get_versioned<RunEnding>(std::move(key)));
  if (!found || found->record.ended) co_return Done{};
  RunEnding changed = found->record;
  changed.id = run.id;
  changed.run = run.run;
  changed.thread = run.thread;
  changed.after = run.after;
  changed.wake = world_.parts.clock.now();
  std::vector<RecordWrite> writes;
  bool is_moved = changed.id != expected_id;
  if (is_moved) {
    writes.push_back(record_erasure(RunEnding::collection, UserId(), expected_id));
    writes.back().is_of_tenant = true;
    writes.back().expected_version = found->version;
  }
  BELAY_CO_CHECK(add_write(writes, changed, UserId(), is_moved ? 0 : found->version));
  auto saved = co_await world_.parts.service.save_records(who_, std::move(writes));
  // A server works on it, or the run had an ending before.
  bool is_known = !saved.ok() && saved.error().code == ErrorCode::conflict;
  if (!is_known) co_return std::move(saved);
  if (is_moved) co_return co_await withdraw(std::move(expected_id));
  co_return Done{};
}

Task<Result<Done>> RunEndings::withdraw(std::string expected_id) {
  std::vector<RecordWrite> writes;
  writes.push_back(record_erasure(RunEnding::collection, UserId(), std::move(expected_id)));
  writes.back().is_of_tenant = true;
  co_return co_await world_.parts.service.save_records(who_, std::move(writes));
}

Task<Result<std::optional<RunEnding>>> RunEndings::find(std::string id) {
  std::unique_ptr<Records> records = records_of(world_.parts.service, who_, UserId());
  co_return co_await records->get<RunEnding>(std::move(id));
}

// Returns the run of the service. If the server ended before started(), the id of a run whose
// thread has no other one is unknown.
Task<Result<RunRow>> RunEndings::row_of(const RunEnding& ending) {
  Service& service = world_.parts.service;
  if (auto run = run_named(ending.run)) {
    auto row = co_await service.run(who_, *run);
    bool is_absent = !row.ok() && row.error().code == ErrorCode::not_found;
    if (!is_absent) co_return std::move(row);
  }
  ThreadId thread(ending.thread);
  BELAY_CO_TRY(RunRow row, co_await service.run_of(who_, std::move(thread), std::nullopt));
  bool is_of_ending = row.ordinal == 0 && row.created_at >= ending.created_at;
  if (!is_of_ending || row.user.text != ending.user) co_return no_longer_there();
  co_return std::move(row);
}

Task<Result<std::optional<ProtocolRun>>> RunEndings::work_on(const RunEnding& ending) {
  BELAY_CO_TRY(RunRow row, co_await row_of(ending));
  bool is_resumed = static_cast<std::int64_t>(row.seq) > ending.after;
  if (!is_resumed) co_return no_longer_there();
  Service& service = world_.parts.service;
  std::string id = ending.id;
  BELAY_CO_TRY(ProtocolRun run,
               co_await run_with_record(service, who_, std::move(row), std::move(id)));
  // A crash between the decision and save_run() leaves no record.
  bool has_no_record = ending.after > 0 && run.record.id != ending.id;
  if (has_no_record) {
    run.record.id = ending.id;
    run.record.after = ending.after;
    run.is_superseded = false;
  }
  bool is_at_work = status_of(run) == "pending" || status_of(run) == "running";
  if (is_at_work) co_return std::optional<ProtocolRun>();
  co_return std::optional(std::move(run));
}

Task<Result<Done>> RunEndings::perform(Versioned<RunEnding>& ending, ProtocolRun& run) {
  bool notifies = !ending.record.webhook.empty() && !ending.record.sent_at && http_;
  if (notifies) {
    auto notified = co_await notify(ending, run);
    if (!notified.ok()) {
      Error failed = std::move(notified).error();
      co_return co_await give_up(ending.record, run, std::move(failed));
    }
  }
  if (ending.record.deletes_thread) BELAY_CO_CHECK(co_await delete_thread(run));
  ending.record.ended = true;
  co_return Done{};
}

// Returns the failure of notify(). Without another attempt, the thread is deleted now.
Task<Result<Done>> RunEndings::give_up(const RunEnding& ending, const ProtocolRun& run,
                                       Error failed) {
  bool is_lost = failed.code == ErrorCode::conflict;
  bool is_last = !is_lost && server::after_failure(ending.failures + 1, failed).ends;
  if (is_last && ending.deletes_thread) BELAY_CO_CHECK(co_await delete_thread(run));
  co_return std::move(failed);
}

Task<Result<Done>> RunEndings::notify(Versioned<RunEnding>& ending, const ProtocolRun& run) {
  auto task = payload_of(run);
  auto read = co_await world_.waiting.within<Result<Value>>(kReadTime, std::move(task));
  if (!read) co_return error(ErrorCode::unavailable, "The events of the run could not be read.");
  BELAY_CO_TRY(Value payload, *std::move(read));
  Instant now = world_.parts.clock.now();
  payload.as_object()->insert_or_assign("webhook_sent_at", to_text(now));
  HttpCall call = call_of_webhook(ending.record, payload);
  BELAY_CO_CHECK(co_await server::deliver_to_receiver(*http_, std::move(call)));
  ending.record.sent_at = now;
  co_return co_await save_progress(ending);
}

// The document of the run with its result. The values are those at its end, even if the run of the
// service has continued since.
Task<Result<Value>> RunEndings::payload_of(const ProtocolRun& run) {
  Service& service = world_.parts.service;
  RunSegment segment(service, who_, run);
  BELAY_CO_CHECK(co_await read_to_end(segment));
  ThreadId thread = run.row.thread;
  std::optional<std::uint64_t> seq;
  bool waits = segment.end() == SegmentEnd::interrupted || segment.end() == SegmentEnd::held;
  if (waits || !is_final(run.row.status)) seq = segment.end_seq();
  BELAY_CO_TRY(RunView view, co_await service.status(who_, std::move(thread), seq, run.row.run));
  Value values = values_of(served_, view);
  bool is_interrupted = segment.end() == SegmentEnd::interrupted && values.as_object();
  if (is_interrupted) values.as_object()->insert_or_assign("__interrupt__", segment.interrupts());
  Value failure;
  if (segment.end() == SegmentEnd::failed) {
    failure = Value::object({{"error", segment.error_name()}, {"message", segment.message()}});
  }
  Value document = run_document(run);
  Value::Object& members = *document.as_object();
  members.insert_or_assign("run_started_at", to_text(run.record.created_at));
  members.insert_or_assign("run_ended_at", to_text(segment.ended_at()));
  members.insert_or_assign("values", std::move(values));
  members.insert_or_assign("error", std::move(failure));
  co_return std::move(document);
}

// The thread of a run that waits for a person is kept, because its decision can still be made; and
// that of earlier runs, which was not made for this one.
Task<Result<Done>> RunEndings::delete_thread(const ProtocolRun& run) {
  bool is_first = run.row.ordinal == 0;
  if (!is_first || !is_final(run.row.status)) co_return Done{};
  co_return co_await delete_thread_of_run(world_.parts.service, who_, run.row);
}

Value webhook_document(const std::optional<RunEnding>& ending) {
  if (!ending || ending->webhook.empty()) return Value();
  std::string_view status = "pending";
  if (ending->sent_at) {
    status = "delivered";
  } else if (ending->ended) {
    status = "failed";
  }
  Value sent = ending->sent_at ? Value(to_text(*ending->sent_at)) : Value();
  Value failed = ending->last_error.empty() ? Value() : Value(ending->last_error);
  return Value::object({{"status", status},
                        {"failures", ending->failures},
                        {"last_error", std::move(failed)},
                        {"sent_at", std::move(sent)}});
}

}  // namespace belay::langgraph
