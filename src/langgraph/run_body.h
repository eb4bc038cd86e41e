#pragma once
// langgraph/run_body.h - the body of a request that starts a run.
//
// Unknown members are ignored. A member that Belay cannot honour, and that would change what the
// run does, is refused with `invalid` (HTTP 422): docs/front-doors.md lists them.
//   command.goto, command.update       together with an input or a resume
//   checkpoint                         of a subgraph
// These change nothing and are accepted: feedback_keys, langsmith_tracer, checkpoint_during,
// strict_resume (a resume is always strict) and config.tags.
//
// Threading: values.

#include <optional>
#include <set>
#include <string>

#include "belay/service.h"
#include "conversation/conversation.h"
#include "langgraph/state_change.h"

namespace belay::langgraph {

enum class StreamMode {
  values,
  updates,
  messages_tuple,
  messages,  // the old form: messages/metadata, messages/partial, messages/complete
  custom,
  tasks,
  checkpoints,
  debug,
  events,
  tools,
};
using StreamModes = std::set<StreamMode>;

struct RunBody {
  std::string assistant_id;
  Value input;     // an object; null: none
  Value resume;    // null: none
  Value metadata;  // an object
  // The members that describe the run, without input, command and metadata: `kwargs` of its
  // document.
  Value settings;
  StreamModes modes{StreamMode::values};
  bool stream_subgraphs = false;
  std::string checkpoint;  // a checkpoint id; empty: the newest
  std::optional<BusyThread> if_busy = std::nullopt;
  bool keeps_thread = false;  // of a run without a thread: on_completion
  bool cancels_on_disconnect = false;
  bool creates_thread = false;
  std::chrono::milliseconds delay{0};
  std::string webhook;   // an address (run_endings.h); empty: none
  RunSettings run = {};  // durability; config.recursion_limit: the number of supersteps
  Breakpoints breakpoints = {};
  std::optional<StateChange> change = std::nullopt;  // command.update, command.goto
};

Result<RunBody> run_body_of(const Value& body);

// Returns the modes that a text or a list of texts names; `values` for null.
Result<StreamModes> stream_modes_of(const Value& named);

// Returns the type of a message that has this role; empty for another role.
std::string_view type_of_role(std::string_view role);

// Returns the input of the agent. `messages` for an agent without such a channel become the input
// that it expects (conversation.h); other members are kept if the agent has such a channel. For an
// agent with that channel, messages get an id if they have none, and a type instead of a role that
// names one (user: human; assistant: ai; developer: system). `agent`: its document of
// Service::agents().
struct AgentInput {
  Value value;
  std::string question_id = {};  // of `messages`: see conversation/question_id.h
};
Result<AgentInput> agent_input(const conversation::Conversations& conversations, const Value& agent,
                               Value input, Random& random);

// The decisions that a resume makes. `open`: the open approvals of the paused run. The resume is an
// object of replies by interrupt id, all of which must be open; or one reply, if exactly one is
// open. Nothing is decided by a guess: `conflict` if it matches no open interrupt, `invalid` if it
// is ambiguous or a reply is neither an approval nor a rejection.
struct PlannedDecision {
  InterruptId interrupt;
  Decision decision;
};
Result<std::vector<PlannedDecision>> planned_decisions(const Value& resume,
                                                       const std::vector<ApprovalRow>& open,
                                                       const std::string& decided_by);

}  // namespace belay::langgraph
