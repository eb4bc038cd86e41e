#include "a2a/task_stream.h"

#include <algorithm>
#include <iterator>

#include "a2a/a2a_message.h"
#include "a2a/a2a_task.h"

namespace belay::a2a {
namespace {

// No commit has that many events.
constexpr std::uint64_t kAllEvents = 1'000'000'000;

bool is_named(const Value& status, RunStatus wanted) { return status == Value(name_of(wanted)); }

// True if an approval that was requested before a pause was open at that time. The end of the run
// closes those that are open until then.
bool was_open(const ApprovalRow& row, Instant pause) {
  bool is_undecided = row.status == ApprovalStatus::open || row.status == ApprovalStatus::closed;
  return is_undecided || row.decided_at >= pause;
}

// Adds an approval that is requested, and removes one whose superstep has ended.
void note_approval(const StreamEvent& event, std::vector<InterruptId>& asked) {
  const std::string* text = event.body["interrupt"].as_string();
  auto id = text ? uuid_from(*text) : std::nullopt;
  if (!id) return;
  if (event.body["event"] == Value("asked")) {
    asked.push_back(InterruptId(*id));
  } else {
    std::erase(asked, InterruptId(*id));
  }
}

// True if the commit has stopped the run at a breakpoint.
bool has_held_task(const StreamEvent& event) {
  const Value::Array* tasks = event.body["tasks"].as_array();
  return tasks && std::any_of(tasks->begin(), tasks->end(),
                              [](const Value& task) { return task["held"] == Value(true); });
}

// A node's text. A piece at its beginning, and the whole text, replace what a reader has of it.
Value text_update(const StreamEvent& event) {
  bool is_whole = event.id.has_value();
  const std::string* text = event.body["text"].as_string();
  Value artifact = Value::object({{"artifactId", "text-" + event.task.text()},
                                  {"name", event.node},
                                  {"parts", Value::Array{text_part(text ? *text : "")}}});
  return Value::object({{"artifact", std::move(artifact)},
                        {"append", !is_whole && event.offset > 0},
                        {"lastChunk", is_whole}});
}

}  // namespace

Task<Result<std::unique_ptr<EventReader>>> streamed_events(Service& service, Principal who,
                                                           const RunRow& run, EventOptions options,
                                                           bool is_pruned_start) {
  options.thread = run.thread;
  options.run = run.run;
  options.kinds = {EventKind::status,      EventKind::tasks,     EventKind::messages,
                   EventKind::checkpoints, EventKind::approvals, EventKind::debug};
  EventOptions from_here = options;
  from_here.after.reset();
  auto opened = co_await service.events(who, std::move(options));
  // All commits up to this one are pruned: the events without a start are those after it.
  bool is_pruned = is_pruned_start && !opened.ok() && opened.error().code == ErrorCode::not_found;
  if (is_pruned) opened = co_await service.events(who, std::move(from_here));
  co_return std::move(opened);
}

EventId after_commit(std::uint64_t seq) { return {seq, kAllEvents}; }

TaskStream::TaskStream(StreamedTask streamed, std::optional<Value> task,
                       std::unique_ptr<EventReader> reader)
    : streamed_(std::move(streamed)),
      task_(std::move(task)),
      reader_(std::move(reader)),
      has_ended_(!reader_) {}

Task<Result<std::string>> TaskStream::next() {
  BELAY_CO_TRY(std::optional<TaskResponse> response, co_await next_response());
  if (!response) co_return std::string();
  co_return text_of(*std::move(response));
}

Task<Result<std::optional<TaskResponse>>> TaskStream::next_response() {
  std::optional<TaskResponse> response;
  if (task_) {
    Value task = *std::exchange(task_, std::nullopt);
    response.emplace(after_commit(streamed_.run.seq), Value::object({{"task", std::move(task)}}));
  }
  while (!response && !has_ended_) {
    if (read_.empty()) {
      BELAY_CO_TRY(std::vector<StreamEvent> events, co_await reader_->next());
      has_ended_ = events.empty();
      read_.assign(std::make_move_iterator(events.begin()), std::make_move_iterator(events.end()));
      continue;
    }
    StreamEvent event = std::move(read_.front());
    read_.pop_front();
    if (event.kind == EventKind::approvals) {
      // The first pause reads those before it.
      if (asked_) note_approval(event, *asked_);
      continue;
    }
    if (event.kind == EventKind::debug) {
      // The status of the same commit follows.
      if (event.checkpoint_ns.empty()) is_held_ = has_held_task(event);
      continue;
    }
    BELAY_CO_TRY(std::optional<Value> result, co_await response_to(event));
    if (result) response.emplace(event.id, *std::move(result));
  }
  co_return std::move(response);
}

std::string TaskStream::text_of(TaskResponse response) const {
  std::string text;
  if (response.id) text = "id: " + response.id->text() + "\n";
  text += "data: ";
  // JSON text contains no line break, which would end the "data:" field.
  write_json(response_of(streamed_.request, std::move(response.result)), text);
  return text += "\n\n";
}

Value TaskStream::update(std::string_view kind, Value::Object members) const {
  members.emplace("taskId", streamed_.run.run.text());
  members.emplace("contextId", streamed_.run.thread.text);
  return Value::object({{std::string(kind), Value(std::move(members))}});
}

Task<Result<std::optional<Value>>> TaskStream::response_to(const StreamEvent& event) {
  std::optional<Value> none;
  if (event.kind == EventKind::status) co_return co_await status_update(event);
  if (event.kind == EventKind::messages) {
    Value body = text_update(event);
    co_return update("artifactUpdate", std::move(*body.as_object()));
  }
  if (event.kind == EventKind::checkpoints) {
    bool is_last =
        event.checkpoint_ns.empty() && is_named(event.body["status"], RunStatus::completed);
    if (is_last) co_return co_await result_update();
    co_return std::move(none);
  }
  if (event.body["event"] != Value("ended")) co_return std::move(none);
  Value::Object metadata{{"belay/step", event.node}};
  Value::Object members{{"status", status_of("TASK_STATE_WORKING", event.at, Value())},
                        {"metadata", Value(std::move(metadata))}};
  co_return update("statusUpdate", std::move(members));
}

Task<Result<std::optional<Value>>> TaskStream::status_update(const StreamEvent& event) {
  const Value& named = event.body["status"];
  Value status;
  if (is_named(named, RunStatus::running)) {
    status = status_of("TASK_STATE_WORKING", event.at, Value());
  } else if (is_named(named, RunStatus::queued)) {
    bool is_first = event.id->seq <= 1;
    std::string_view state = is_first ? "TASK_STATE_SUBMITTED" : "TASK_STATE_WORKING";
    status = status_of(state, event.at, Value());
  } else if (is_named(named, RunStatus::paused)) {
    BELAY_CO_TRY(status, co_await paused_status(event));
  } else {
    BELAY_CO_TRY(status, co_await end_status(event));
    has_ended_ = true;
  }
  Value::Object members{{"status", std::move(status)}};
  co_return update("statusUpdate", std::move(members));
}

// The run's row has moved on for a reader of old events; the rows of its approvals have not.
Task<Result<Value>> TaskStream::paused_status(const StreamEvent& event) {
  if (!asked_) {
    BELAY_CO_TRY(asked_, co_await asked_until(*event.id));
  }
  std::vector<ApprovalRow> open;
  const std::vector<InterruptId> asked = *asked_;
  for (const InterruptId& interrupt : asked) {
    Whose any;
    std::string id = interrupt.text();
    BELAY_CO_TRY(ApprovalRow row,
                 co_await streamed_.service.approval(streamed_.who, std::move(id), std::move(any)));
    if (was_open(row, event.at)) open.push_back(std::move(row));
  }
  bool is_asleep = open.empty() && !is_held_;
  if (is_asleep) co_return status_of("TASK_STATE_WORKING", event.at, Value());
  if (streamed_.ends_with_pause) has_ended_ = true;
  std::uint64_t seq = event.id->seq;
  Value request =
      open.empty() ? breakpoint_message(streamed_.run, seq) : request_of(streamed_.run, seq, open);
  co_return status_of("TASK_STATE_INPUT_REQUIRED", event.at, std::move(request));
}

// Returns the approvals that the run has requested up to an event, without those of the supersteps
// that have ended.
Task<Result<std::vector<InterruptId>>> TaskStream::asked_until(EventId last) {
  EventOptions options;
  options.thread = streamed_.run.thread;
  options.run = streamed_.run.run;
  options.kinds = {EventKind::approvals};
  options.follow = false;
  BELAY_CO_TRY(std::unique_ptr<EventReader> reader,
               co_await streamed_.service.events(streamed_.who, std::move(options)));
  std::vector<InterruptId> asked;
  while (true) {
    BELAY_CO_TRY(std::vector<StreamEvent> events, co_await reader->next());
    for (const StreamEvent& event : events) {
      if (*event.id > last) co_return std::move(asked);
      note_approval(event, asked);
    }
    if (events.empty()) co_return std::move(asked);
  }
}

Task<Result<Value>> TaskStream::end_status(const StreamEvent& event) {
  ThreadId thread = streamed_.run.thread;
  BELAY_CO_TRY(RunRow row, co_await streamed_.service.run_of(streamed_.who, std::move(thread),
                                                             streamed_.run.run));
  std::string text = end_text(row);
  Value message = text.empty() ? Value() : end_message(row, std::move(text));
  co_return status_of(state_of(row), event.at, std::move(message));
}

// The row of a completed run does not change.
Task<Result<std::optional<Value>>> TaskStream::result_update() {
  ThreadId thread = streamed_.run.thread;
  BELAY_CO_TRY(RunView view, co_await streamed_.service.status(streamed_.who, std::move(thread),
                                                               std::nullopt, streamed_.run.run));
  Value::Object members{{"artifact", result_artifact(view, streamed_.conversations)},
                        {"append", false},
                        {"lastChunk", true}};
  co_return update("artifactUpdate", std::move(members));
}

}  // namespace belay::a2a
