#pragma once
// belay/event.h - the events of a run, as a stream that any process can read and rejoin.
//
//     auto events = (co_await runtime->events(options)).value();
//     while (true) {
//       auto some = co_await events->next();
//       if (!some.ok() || some->empty()) break;
//       ...
//     }
//
// Durable events are derived from the stored rows of the run's commits. Therefore all readers in
// all processes receive the same events with the same ids, during the run or years later. A reader
// that reconnects with the last id that it has received gets exactly the remaining events.
// docs/events.md describes each kind.
//
// Text that a node streams (Context::stream) is ephemeral: it has no id, and only readers in the
// process that executes the node receive it; with Hints::broadcast, other processes do too. After
// the node has ended, its whole text follows as a durable event, which replaces the ephemeral ones;
// the text of an attempt that failed is never stored.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "belay/clock.h"
#include "belay/ids.h"
#include "belay/rows.h"
#include "belay/task.h"
#include "belay/value.h"

namespace belay {

// The id of an event in its run: the seq of its commit, and its index among all events of that
// commit, including those that a reader filters out. "12-3".
struct EventId {
  std::uint64_t seq = 0;
  std::uint64_t index = 0;
  std::string text() const;
  friend auto operator<=>(const EventId&, const EventId&) = default;
};
std::optional<EventId> event_id_from(std::string_view text);

enum class EventKind {
  status,       // the run's status changed
  values,       // the whole state after a commit
  updates,      // the channel writes of one task
  messages,     // the text that a node streamed
  custom,       // Context::emit()
  tasks,        // a task was scheduled or has ended, or an attempt failed
  checkpoints,  // a commit
  approvals,    // an approval was requested, decided, expired or closed
  debug,        // all details of a commit
};
std::string_view name_of(EventKind kind);
std::optional<EventKind> event_kind_named(std::string_view name);

struct StreamEvent {
  std::optional<EventId> id;  // absent: ephemeral
  EventKind kind = EventKind::status;
  ThreadId thread;
  RunId run;
  std::string checkpoint_ns;  // namespace of a subgraph task; empty for the run's own graph
  // Empty and null for events that do not belong to one node or task.
  std::string node;
  TaskId task;
  // Of `messages`: the attempt that streamed the text, and the number of bytes before it. A higher
  // attempt invalidates the text of the previous one.
  int attempt = 0;
  std::uint64_t offset = 0;
  Value body;
  Instant at{};
  friend bool operator==(const StreamEvent&, const StreamEvent&) = default;
};
// Returns the event as one JSON object, as the command line prints it.
Value to_value(const StreamEvent& event);

struct EventOptions {
  TenantId tenant = default_tenant();
  ThreadId thread;
  std::optional<RunId> run = std::nullopt;  // unset: the thread's latest
  std::vector<EventKind> kinds = {};        // empty: all
  std::optional<EventId> after = std::nullopt;
  // False: next() does not wait, and returns an empty list if no more events are available.
  bool follow = true;
  std::chrono::milliseconds poll{200};  // poll interval for commits of other processes
  // The interval doubles up to this maximum while no events arrive; below `poll`: it is constant.
  // Commits of the reader's own process are always returned immediately.
  std::chrono::milliseconds poll_max{0};
};

// A reader of a run's events, with its cursor. Threading: the executor's thread; one next() at a
// time. Store and executor must outlive it.
class EventReader {
 public:
  virtual ~EventReader() = default;
  // Waits for further events and returns them, in order. Empty: the run has ended and all events
  // were returned, or, without `follow`, no more are available now. After an Error it can be called
  // again, and no event is lost.
  virtual Task<Result<std::vector<StreamEvent>>> next() = 0;
};

// Progress of a run, reported to its own process. `node_started` is reported when it happens; the
// others after their commit, so that their content is durable.
struct ProgressEvent {
  enum class Kind {
    node_started,
    node_finished,
    attempt_failed,
    paused,
    decided,
    finished,
    released,       // to the queue, because the process ends; `message` names abandoned nodes
    task_finished,  // one of several tasks of a superstep, before its commit
  };
  Kind kind = Kind::node_started;
  ThreadId thread;
  RunId run;
  std::string graph;
  std::string node;
  int attempt = 1;
  std::uint64_t seq = 0;
  RunStatus status = RunStatus::running;
  std::string message;                   // text of an error, an outcome or a question
  std::chrono::milliseconds duration{};  // of a finished node; the delay after a failed attempt
};
using ProgressObserver = std::function<void(const ProgressEvent&)>;

// A node has held the executor's thread for longer than 100 ms.
struct HeldLoop {
  TenantId tenant;
  std::string graph, node;
  std::chrono::milliseconds held{};
};

}  // namespace belay
