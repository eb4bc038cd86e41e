#pragma once
// wellbeing/agent.h - the agents' interface: execute, resume, getStatus, cancel.
//
// A thin layer over Runtime with the field names of the agents' specification. A failed run is a
// result with success = false. An Error means that nothing was started or changed:
//   not_found  "Execution thread not found or expired"
//   invalid    the input or the configuration is invalid
//   conflict   another decision was recorded before, the approval has expired, or another live
//              process owns the run
//
// Threading: on the executor's thread, like the runtime.

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "agents/wellbeing/daily_auditor.h"
#include "agents/wellbeing/routine_generator.h"
#include "belay/runtime.h"

namespace belay::wellbeing {

inline constexpr std::string_view kThreadNotFound = "Execution thread not found or expired";

struct AgentInput {
  std::string date;            // YYYY-MM-DD, "today", "yesterday", "tomorrow"
  std::string language = {};   // "en", "es", or empty: see the agents' states
  std::string time_zone = {};  // "Europe/Madrid", or empty: see the agents' states
};

// Unset members use the runtime's defaults (RuntimeParts::run_defaults).
struct GraphConfig {
  // Empty: a new thread. The run of a known thread is resumed, or returned if it has ended.
  std::string threadId = {};
  // Must be empty: resuming from a given checkpoint is rejected, never ignored.
  std::string checkpointId = {};
  std::optional<int> maxRetries = std::nullopt;
  std::optional<bool> requiresHumanApproval = std::nullopt;
  std::optional<std::chrono::milliseconds> timeout = std::nullopt;
};

struct ResumeInput {
  std::optional<bool> approved = std::nullopt;  // unset: `invalid`, never a rejection
  std::string decidedBy = "local";
  std::string comment = {};
  std::optional<Value> edited = std::nullopt;  // replaces the payload
};

// The store and the caller of an agent. The referenced objects must outlive the agent.
struct AgentParts {
  Runtime& runtime;
  Store& store;
  TenantId tenant = default_tenant();
  UserId user = UserId("local");
};

// The fields that all agents' states have; their values come from the run.
struct BaseAgentState {
  std::string threadId;
  std::string status;
  std::string currentNode;
  std::optional<std::string> error = std::nullopt;
  std::int64_t retryCount = 0;
  Instant createdAt{};
  Instant updatedAt{};
};

template <typename State>
struct GraphExecutionResult {
  bool success = false;
  State state = {};
  BaseAgentState base = {};
  std::string threadId;
  std::string status;   // "completed", "paused", "failed", "cancelled", ...
  std::string outcome;  // of a completed run: "saved", "nothing_to_do", "rejected", "expired"
  std::optional<std::string> error = std::nullopt;
  std::optional<ApprovalRow> approval = std::nullopt;  // the open approval
  Value json = {};  // {success, state, threadId, status, outcome, error}, state as one object
};

template <typename State>
struct AgentStatus {
  std::string status;
  State state = {};
  BaseAgentState base = {};
  Value json = {};  // {status, state}
};

// Returns a run's state with the base fields, as one object.
Value state_json(const RunView& view);
Value result_json(const RunView& view);
BaseAgentState base_state(const RunView& view);

// Returns the options of a run. Fails with `invalid` for invalid values.
Result<StartOptions> start_options(const AgentParts& parts, const GraphConfig& config);
// Returns the same error, with the message kThreadNotFound for `not_found`.
Error told(Error error);
// Returns the view if its run is of `graph`; otherwise `not_found`.
Result<RunView> run_of(Result<RunView> view, const std::string& graph);

// Decides the thread's open approval, or its last one. If the same decision was recorded before and
// its process died, continues the run.
Task<Result<RunView>> resume_run(AgentParts parts, std::string graph, std::string thread,
                                 ResumeInput input);

template <typename State>
Result<GraphExecutionResult<State>> execution_result(Result<RunView> view) {
  if (!view.ok()) return told(std::move(view).error());
  GraphExecutionResult<State> result;
  BELAY_TRY(result.state, decode_json<State>(view->state));
  result.success = view->success();
  result.base = base_state(*view);
  result.threadId = result.base.threadId;
  result.status = result.base.status;
  result.outcome = view->row.outcome;
  result.error = result.base.error;
  result.json = result_json(*view);
  result.approval = std::move(view->approval);
  return result;
}

template <typename State>
class AgentGraph {
 public:
  using ExecutionResult = GraphExecutionResult<State>;

  // Requires that the graph is registered at the runtime: see add_wellbeing_agents().
  AgentGraph(AgentParts parts, Graph<State> graph)
      : parts_(std::move(parts)), graph_(std::move(graph)) {}

  // Returns when the run has ended or waits for a decision. Fails with `invalid` if a known thread
  // has another date.
  Task<Result<ExecutionResult>> execute(AgentInput input, GraphConfig config) {
    BELAY_CO_TRY(StartOptions options, start_options(parts_, config));
    State state;
    state.date = std::move(input.date);
    state.language = std::move(input.language);
    state.timeZone = std::move(input.time_zone);
    auto view = co_await parts_.runtime.start(graph_, std::move(state), std::move(options));
    co_return execution_result<State>(std::move(view));
  }

  // Records the decision on the thread's approval and continues the run. Returns the current state
  // if the same decision was recorded before. Fails with `conflict` if a different one was, or if
  // the approval has expired.
  Task<Result<ExecutionResult>> resume(std::string threadId, ResumeInput input) {
    auto view = co_await resume_run(parts_, graph_.name(), std::move(threadId), std::move(input));
    co_return execution_result<State>(std::move(view));
  }

  Task<Result<AgentStatus<State>>> getStatus(std::string threadId) {
    ThreadId thread(std::move(threadId));
    auto found = co_await parts_.runtime.status(parts_.tenant, std::move(thread));
    auto view = run_of(std::move(found), graph_.name());
    if (!view.ok()) co_return told(std::move(view).error());
    AgentStatus<State> status;
    BELAY_CO_TRY(status.state, decode_json<State>(view->state));
    status.base = base_state(*view);
    status.status = status.base.status;
    status.json = Value::object({{"status", status.status}, {"state", state_json(*view)}});
    co_return std::move(status);
  }

  // Cancelling again changes nothing. Fails with `conflict` if the run has ended in another way.
  Task<Result<Done>> cancel(std::string threadId) {
    ThreadId thread(std::move(threadId));
    ThreadId same = thread;
    auto found = co_await parts_.runtime.status(parts_.tenant, std::move(same));
    auto known = run_of(std::move(found), graph_.name());
    if (!known.ok()) co_return told(std::move(known).error());
    std::string by = parts_.user.text;
    auto view = co_await parts_.runtime.cancel(parts_.tenant, std::move(thread), std::move(by));
    if (!view.ok()) co_return told(std::move(view).error());
    co_return Done{};
  }

 private:
  AgentParts parts_;
  Graph<State> graph_;
};

using DailyAuditorAgent = AgentGraph<Audit>;
using RoutineGeneratorAgent = AgentGraph<RoutineState>;

}  // namespace belay::wellbeing
