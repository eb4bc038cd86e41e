#pragma once
// a2a/a2a_task.h - runs in the forms of A2A: a run is a task, its thread the context, an open
// approval a request for input, the messages of the thread the history, and the state that a run
// ends with the artifact "result".
//
// Threading: values; any thread.

#include <optional>
#include <string_view>
#include <vector>

#include "belay/runtime.h"
#include "conversation/conversation.h"

namespace belay::a2a {

// The state of the task that is a run: "TASK_STATE_WORKING".
std::string_view state_of(const RunRow& run);
// True if the task does not continue: also for a quarantined run, until an operator retries it.
bool is_terminal(const RunRow& run);
// True if the run waits for a person: for a decision, or at a breakpoint. A timer continues the run
// without a person: its task is running.
bool requires_input(const RunRow& run);
bool waits_at_breakpoint(const RunRow& run);
inline constexpr std::string_view kBreakpointText =
    "The task waits at a breakpoint. No message continues it: resume its run through another "
    "interface of the server.";

struct TaskForm {
  const conversation::Conversations& conversations;
  std::optional<std::size_t> history_length = std::nullopt;  // unset: all messages
  bool has_artifacts = true;
};

Value task_of(const RunView& view, const TaskForm& form);
// Without a state: no history and no artifacts.
Value task_of(const RunRow& run, const std::vector<ApprovalRow>& approvals);

// The artifact that a completed run has.
Value result_artifact(const RunView& view, const conversation::Conversations& conversations);

// A status of a task, at a commit. `message`: null without one.
Value status_of(std::string_view state, Instant at, Value message);
// The message that requests the decisions of approvals: for each a text, and data with its payload.
Value request_of(const RunRow& run, std::uint64_t seq, const std::vector<ApprovalRow>& approvals);
// The message about a run that a commit has stopped at a breakpoint.
Value breakpoint_message(const RunRow& run, std::uint64_t seq);
// The message about the end of a run that has no result.
Value end_message(const RunRow& run, std::string text);
std::string end_text(const RunRow& run);

Value text_part(std::string text);
Value data_part(Value data);

}  // namespace belay::a2a
