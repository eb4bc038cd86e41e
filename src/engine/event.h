#pragma once
// engine/event.h - what can happen to a run, and what the driver is to do about it.

#include <cstdint>
#include <variant>
#include <vector>

#include "belay/store.h"
#include "engine/run.h"

namespace belay::engine {

// When it happened, and 64 random bits for what the engine makes of it: ids and jitter.
struct Moment {
  Instant now{};
  std::uint64_t entropy = 0;
};

// The run's first event: its row is filled in, nothing is stored yet.
struct Begun {
  Moment moment;
};
// The run has been read from the store, to be worked on by `session`.
struct TakenOver {
  Moment moment;
  SessionId session;
};
// The commit under way is durable.
struct Committed {
  Moment moment;
};
struct NodeEnded {
  Moment moment;
  TaskId task;
  int attempt = 1;
  std::vector<Change> changes;
  NodeEffects effects;
};
struct NodeFailed {
  Moment moment;
  TaskId task;
  int attempt = 1;
  Error error;
};
// The node asks a person in its middle.
struct NodeAsked {
  Moment moment;
  TaskId task;
  int attempt = 1;
  Question question;
};
// The wait after a failed attempt is over.
struct RetryDue {
  TaskId task;
  int attempt = 1;  // the one to start
};
// The run has worked for as long as its options allow.
struct RunTimedOut {
  Moment moment;
};
// The open approval that the run waits for is decided, or has expired. `session` goes on with it.
struct Decided {
  enum class Verdict { approved, rejected, expired };
  Moment moment;
  SessionId session;
  ApprovalRow approval;
  Verdict verdict = Verdict::approved;
  std::string decided_by;
  std::string comment;
  std::optional<Value> edited;
};
struct Cancelled {
  Moment moment;
  std::string by;
};

using Event = std::variant<Begun, TakenOver, Committed, NodeEnded, NodeFailed, NodeAsked, RetryDue,
                           RunTimedOut, Decided, Cancelled>;

// Starts one attempt of a node.
struct StartNode {
  TaskId task;
  const GraphDefinition::Node* node = nullptr;
  int attempt = 1;
};
// Writes the commit; then comes Committed, or nothing more if the run was fenced.
struct WriteCommit {
  Commit commit;
};
struct WaitForRetry {
  TaskId task;
  int attempt = 1;
  Instant due{};
};
// The run has ended or waits for a person: nothing is left to do in this process.
struct Rest {};

using Action = std::variant<StartNode, WriteCommit, WaitForRetry, Rest>;

}  // namespace belay::engine
