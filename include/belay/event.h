#pragma once
// belay/event.h - what a run tells, as a stream that any process can read and rejoin.
//
//     auto events = (co_await runtime->events(options)).value();
//     while (true) {
//       auto some = co_await events->next();
//       if (!some.ok() || some->empty()) break;
//       ...
//     }
//
// Durable events are made of what the store keeps of the run's commits, so every reader in every
// process gets the same ones, with the same ids, whether it reads while they happen or years later.
// Their ids grow without a gap of meaning: a reader that comes back with the last id that it has
// seen gets exactly the rest. docs/events.md says what each kind tells, and when.
//
// Text that a node streams (Context::stream) is ephemeral: it has no id, and only readers in the
// process that runs the node see it. When the node has ended its whole text comes as a durable
// event that stands in its place; the text of an attempt that failed never does.

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

// Where an event stands in its run: the commit that it tells of, and its place among all events of
// that commit, those that a reader leaves out included. "12-3".
struct EventId {
  std::uint64_t seq = 0;
  std::uint64_t index = 0;
  std::string text() const;
  friend auto operator<=>(const EventId&, const EventId&) = default;
};
std::optional<EventId> event_id_from(std::string_view text);

enum class EventKind {
  status,       // the run has another status
  values,       // the whole state after a step
  updates,      // what one task changed
  messages,     // the text that a node has streamed
  custom,       // Context::emit()
  tasks,        // a task was chosen, has ended, or an attempt of it has failed
  checkpoints,  // a commit
  approvals,    // a person is asked; what came of it
  debug,        // all that a commit says
};
std::string_view name_of(EventKind kind);
std::optional<EventKind> event_kind_named(std::string_view name);

struct StreamEvent {
  std::optional<EventId> id;  // absent: ephemeral
  EventKind kind = EventKind::status;
  ThreadId thread;
  RunId run;
  std::string checkpoint_ns;  // namespace of a subgraph's visit; empty for the run's own graph
  // Of one task, or one node; empty and null where it is of none.
  std::string node;
  TaskId task;
  // Of `messages`: which attempt said it, and what stands before it, in bytes. A greater attempt
  // makes what the one before has said void.
  int attempt = 0;
  std::uint64_t offset = 0;
  Value body;
  Instant at{};
  friend bool operator==(const StreamEvent&, const StreamEvent&) = default;
};
// The event as one JSON object: what the command line prints.
Value to_value(const StreamEvent& event);

struct EventOptions {
  TenantId tenant = default_tenant();
  ThreadId thread;
  std::optional<RunId> run = std::nullopt;  // unset: the thread's latest
  std::vector<EventKind> kinds = {};        // empty: all
  std::optional<EventId> after = std::nullopt;
  // False: next() does not wait, and gives nothing once there is no more for now.
  bool follow = true;
  std::chrono::milliseconds poll{200};  // how often it looks for what other processes commit
  // While nothing comes it looks less and less often, down to this; less than `poll`: as often.
  // What its own process commits is told at once, always.
  std::chrono::milliseconds poll_max{0};
};

// A reader's place in a run. Threading: the executor's thread; one next() at a time. It outlives
// neither the store nor the executor.
class EventReader {
 public:
  virtual ~EventReader() = default;
  // Waits until there is more, in order, and returns it. Empty: the run has come to its end and all
  // of it has been read, or, without `follow`, there is no more for now. After an Error it may be
  // called again, and misses nothing.
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
    released,  // to the queue, because the process ends; `message` names abandoned nodes
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

}  // namespace belay
