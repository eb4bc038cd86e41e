// The nodes `begin` and `plan`, and the requests to the model.

#include <algorithm>

#include "agents/goals/characters.h"
#include "agents/goals/planner_nodes.h"
#include "agents/goals/prompts.h"

namespace belay::goals {
namespace {

constexpr std::int64_t kThoughtMax = 20'000;           // characters that are kept
constexpr std::size_t kNameBytesMax = 64;              // of a tool
constexpr std::int64_t kNonsenseArgumentsMax = 2'000;  // characters

// The memory that a run of mode `carry` reads: that of the run before it, within its bound.
LastRun last_run_of(const GoalRun& state, Context& context) {
  LastRun last;
  last.summary = first_characters(state.summary, kCarriedSummaryMax);
  std::vector<MemoryEntry> entries = state.memory;
  std::erase_if(entries, [](const MemoryEntry& entry) { return entry.key == kSummaryKey; });
  FittedMemory fitted = fit_memory(std::move(entries), state.omitted, kCarriedBytesMax,
                                   context.run().text() + "-last_");
  for (MovedResult& moved : fitted.moved) {
    std::int64_t characters = count_characters(moved.text);
    context.save(GoalResult{std::move(moved.id), state.goal.id, context.run().text(),
                            std::move(moved.text), characters, context.now()});
  }
  last.entries = std::move(fitted.entries);
  last.omitted = fitted.omitted;
  return last;
}

Result<Done> check_input(const GoalInput& goal) {
  if (goal.id.empty() || goal.objective.empty()) {
    return error(ErrorCode::invalid,
                 "A run of this agent needs a goal. Trigger one with `belay goals trigger ID`.");
  }
  if (goal.params.stepBudget >= 1 && goal.params.stepBudget <= kStepBudgetMax) return Done{};
  return error(ErrorCode::invalid, "Invalid stepBudget: expected 1 to " +
                                       std::to_string(kStepBudgetMax) + ". Edit the goal.");
}

std::string shown_name(const std::string& name) {
  return name.empty() ? "(no name)" : "\"" + name + "\"";
}

std::string unknown_tool(const std::string& name, const std::vector<ToolDefinition>& tools) {
  std::string known;
  for (const ToolDefinition& tool : tools) known += (known.empty() ? "" : ", ") + tool.name;
  return "Error: there is no tool " + shown_name(name) + ". The tools are: " + known + ".";
}

// Returns arguments that a state can store. Those of a tool are an object.
Value storable_arguments(const Value& arguments) {
  const std::string* text = arguments.as_string();
  if (text) return first_characters(storable_text(*text), kNonsenseArgumentsMax);
  auto encoded = encode_json(arguments);
  return encoded.ok() ? arguments : Value("(arguments that are not JSON)");
}

PlannedCall planned_call(const ToolCall& requested, std::string id, bool is_cut,
                         const std::vector<ToolDefinition>& tools) {
  PlannedCall planned;
  // The id of the model might be missing, or one that it has used before.
  planned.call.id = std::move(id);
  planned.call.name = storable_text(requested.name.substr(0, kNameBytesMax));
  planned.call.arguments = storable_arguments(requested.arguments);
  auto has_name = [&](const ToolDefinition& tool) { return tool.name == requested.name; };
  if (std::none_of(tools.begin(), tools.end(), has_name)) {
    planned.fault = unknown_tool(planned.call.name, tools);
  } else if (is_cut) {
    planned.fault =
        "Error: the reply was cut off at its maximum length, and its calls were not "
        "executed. Make fewer or shorter calls.";
  }
  return planned;
}

std::vector<PlannedCall> planned_calls(const ModelReply& reply, int step,
                                       const std::vector<ToolDefinition>& tools) {
  std::vector<PlannedCall> calls;
  bool is_cut = reply.stop_reason == StopReason::length;
  for (const ToolCall& requested : reply.tool_calls) {
    if (calls.size() == kStepCallsMax) break;
    std::string id = "step_" + std::to_string(step) + "_" + std::to_string(calls.size());
    calls.push_back(planned_call(requested, std::move(id), is_cut, tools));
  }
  return calls;
}

// Returns the fault of a reply that a model did not give, or of which a part was dropped.
std::string fault_of(const ModelReply& reply) {
  if (reply.stop_reason == StopReason::refused) {
    return "Error: the model " + storable_text(reply.model) + " refused the request.";
  }
  if (reply.tool_calls.size() <= kStepCallsMax) return "";
  std::size_t dropped = reply.tool_calls.size() - kStepCallsMax;
  return "Error: " + std::to_string(dropped) + " calls were dropped: a step has at most " +
         std::to_string(kStepCallsMax) + ".";
}

Update<GoalRun> update_with(const GoalRun& state, ModelReply reply,
                            const std::vector<ToolDefinition>& tools, Context& context) {
  int step = state.step + 1;
  std::vector<PlannedCall> calls = planned_calls(reply, step, tools);
  std::string thought = first_characters(storable_text(reply.text), kThoughtMax);
  Usage usage = reply.usage.value_or(Usage());
  auto update = set(&GoalRun::step, step)
                    .set(&GoalRun::thought, std::move(thought))
                    .set(&GoalRun::fault, fault_of(reply))
                    .set(&GoalRun::startedAt, context.now())
                    .add(&GoalRun::tokens, usage.input_tokens + usage.output_tokens)
                    .set(&GoalRun::provider, storable_text(reply.provider))
                    .set(&GoalRun::model, storable_text(reply.model))
                    .set(&GoalRun::notice, storable_text(reply.notice));
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].fault.empty()) update = std::move(update).send("act", std::to_string(i));
  }
  return std::move(update).set(&GoalRun::calls, std::move(calls));
}

}  // namespace

ModelRequest request_to(const GoalRun& state, std::string_view purpose) {
  ModelRequest request;
  request.purpose = purpose;
  request.model = state.goal.params.model;
  std::string found;
  Value::Array called;
  for (const ShownStep& step : state.history) {
    if (!step.tools.empty()) called.emplace_back(step.tools);
    if (!step.observation.empty()) found = step.observation;
  }
  request.input = Value::object({{"objective", state.goal.objective},
                                 {"steps", state.step},
                                 {"called", std::move(called)},
                                 {"found", std::move(found)}});
  return request;
}

Result<Update<GoalRun>> begin_run(const GoalRun& state, Context& context) {
  BELAY_CHECK(check_input(state.goal));
  bool is_carried = state.goal.memory == kCarry;
  LastRun last;
  if (is_carried) last = last_run_of(state, context);
  return set(&GoalRun::last, std::move(last))
      .set(&GoalRun::untrusted, is_carried && state.untrusted)
      .set(&GoalRun::outcome, "")
      .set(&GoalRun::summary, "")
      .set(&GoalRun::step, 0)
      .set(&GoalRun::thought, "")
      .set(&GoalRun::fault, "")
      .set(&GoalRun::calls, {})
      .set(&GoalRun::results, {})
      .set(&GoalRun::history, {})
      .set(&GoalRun::memory, {})
      .set(&GoalRun::omitted, 0)
      .set(&GoalRun::tokens, 0)
      .set(&GoalRun::tokenLimit, state.goal.params.tokenLimit.value_or(0))
      .set(&GoalRun::startedAt, Instant{});
}

Task<Result<Update<GoalRun>>> plan_step(SharedPlanner planner, const GoalRun& state,
                                        Context& context) {
  const GoalParams& params = state.goal.params;
  ModelRequest request = request_to(state, kPlanPurpose);
  request.tools = tools_of(planner->tools, params);
  request.temperature = params.temperature;
  request.max_output_tokens = params.maxTokens;
  std::string memory = memory_json(state.memory, state.omitted, state.last);
  int remaining = params.stepBudget - (state.step + 1);
  request.messages.push_back(
      {Role::system, system_prompt(state.goal.objective, request.tools, remaining, memory)});
  request.messages.push_back({Role::user, user_prompt(state.history)});
  request.on_text_delta = [&context](std::string_view piece) {
    context.stream(storable_text(piece));
  };
  std::vector<ToolDefinition> tools = request.tools;
  auto reply = co_await context.model().generate(std::move(request));
  if (!reply.ok()) {
    // The budget is the run's own: the steps so far still have a summary.
    bool is_spent = reply.error().code == ErrorCode::exhausted && context.options().budget.is_set();
    if (!is_spent) co_return std::move(reply).error();
    co_return set(&GoalRun::outcome, "tokens_spent").go_to("summarize");
  }
  co_return update_with(state, *std::move(reply), tools, context);
}

}  // namespace belay::goals
