#pragma once
// a2a/task_stream.h - TaskStream: the events of a task as responses of A2A, in server-sent events.
//
// Each response is made of one durable event of the run and of rows that no longer change at that
// event, and has the id of the event: all readers receive the same responses, and a reader that
// was disconnected receives exactly the remaining ones after its last id. Text that a node streams
// comes without an id, as in belay/event.h. The mapping:
//   - the status of the run: a status update; the pause for approvals contains the open ones, and
//     that at a breakpoint a text
//   - the end of a step: a status update that names it
//   - the text of a node: the artifact "text-TASK", of which a later attempt replaces the pieces
//   - the last commit of a completed run: the artifact "result", before the last status
//
// Threading: the executor's thread. The service and the conversations must outlive the stream.

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "belay/service.h"
#include "conversation/conversation.h"
#include "http/message.h"

namespace belay::a2a {

struct StreamedTask {
  Service& service;
  const conversation::Conversations& conversations;
  Principal who;
  Value request;                 // the id of the request
  RunRow run;                    // whose names do not change
  bool ends_with_pause = false;  // the stream ends when the task waits for a person
};

struct TaskResponse {
  std::optional<EventId> id = std::nullopt;
  Value result;
};

class TaskStream final : public http::BodyStream {
 public:
  // `task`: the state with which the stream begins; unset: it continues another stream. `reader`:
  // of the events after that, from streamed_events(); null: it ends there.
  TaskStream(StreamedTask streamed, std::optional<Value> task, std::unique_ptr<EventReader> reader);

  Task<Result<std::string>> next() override;
  // Returns the next response; nullopt at the end.
  Task<Result<std::optional<TaskResponse>>> next_response();

 private:
  Task<Result<std::optional<Value>>> response_to(const StreamEvent& event);
  Task<Result<std::optional<Value>>> status_update(const StreamEvent& event);
  Task<Result<Value>> paused_status(const StreamEvent& event);
  Task<Result<std::vector<InterruptId>>> asked_until(EventId last);
  Task<Result<Value>> end_status(const StreamEvent& event);
  Task<Result<std::optional<Value>>> result_update();
  Value update(std::string_view kind, Value::Object members) const;
  std::string text_of(TaskResponse response) const;

  const StreamedTask streamed_;
  std::optional<Value> task_;
  const std::unique_ptr<EventReader> reader_;
  std::deque<StreamEvent> read_;  // not sent yet
  // Requested before the next event, in supersteps that have not ended; unset before the first
  // pause.
  std::optional<std::vector<InterruptId>> asked_;
  bool is_held_ = false;  // the last commit has stopped at a breakpoint
  bool has_ended_;
};

// Opens a reader of the events of a run that a stream shows, with the place and the waits of
// `options`. `is_pruned_start`: events that are no longer stored before the others are omitted.
Task<Result<std::unique_ptr<EventReader>>> streamed_events(Service& service, Principal who,
                                                           const RunRow& run, EventOptions options,
                                                           bool is_pruned_start);
// The place after all events of the commits up to `seq`.
EventId after_commit(std::uint64_t seq);

}  // namespace belay::a2a
