// The node `plan`, and the requests to the model.

#include <algorithm>

#include "agents/goals/characters.h"
#include "agents/goals/planner_nodes.h"
#include "agents/goals/prompts.h"
#include "belay/agent.h"
#include "belay/service.h"

namespace belay::goals {
namespace {

constexpr std::int64_t kThoughtMax = 20'000;           // characters that are kept
constexpr std::size_t kNameBytesMax = 64;              // of a tool
constexpr std::int64_t kNonsenseArgumentsMax = 2'000;  // characters

std::string shown_name(const std::string& name) {
  return name.empty() ? "(no name)" : "\"" + name + "\"";
}

// An agent needs a question.
bool is_without_question(const Planner& planner, const ToolCall& call) {
  if (node_of_calls(planner, call.name) == "act") return false;
  const std::string* question = call.arguments["question"].as_string();
  return !question || question->find_first_not_of(" \t\r\n") == std::string::npos;
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

PlannedCall planned_call(const Planner& planner, const ToolCall& requested, std::string id,
                         bool is_cut, const std::vector<ToolDefinition>& tools) {
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
  } else if (is_without_question(planner, planned.call)) {
    planned.fault = "Error: the arguments do not fit: expected \"question\", a text.";
  }
  return planned;
}

std::vector<PlannedCall> planned_calls(const Planner& planner, const ModelReply& reply, int step,
                                       const std::vector<ToolDefinition>& tools) {
  std::vector<PlannedCall> calls;
  bool is_cut = reply.stop_reason == StopReason::length;
  for (const ToolCall& requested : reply.tool_calls) {
    if (calls.size() == kStepCallsMax) break;
    std::string id = "step_" + std::to_string(step) + "_" + std::to_string(calls.size());
    calls.push_back(planned_call(planner, requested, std::move(id), is_cut, tools));
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

Update<GoalRun> update_with(const Planner& planner, const GoalRun& state, ModelReply reply,
                            const std::vector<ToolDefinition>& tools, Context& context) {
  int step = state.step + 1;
  std::vector<PlannedCall> calls = planned_calls(planner, reply, step, tools);
  std::string thought = first_characters(storable_text(reply.text), kThoughtMax);
  Usage usage = reply.usage.value_or(Usage());
  auto update = set(&GoalRun::step, step)
                    .set(&GoalRun::thought, std::move(thought))
                    .set(&GoalRun::messageId, streamed_message_id(context))
                    .set(&GoalRun::fault, fault_of(reply))
                    .set(&GoalRun::startedAt, context.now())
                    .add(&GoalRun::tokens, usage.input_tokens + usage.output_tokens)
                    .set(&GoalRun::provider, storable_text(reply.provider))
                    .set(&GoalRun::model, storable_text(reply.model))
                    .set(&GoalRun::notice, storable_text(reply.notice));
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!calls[i].fault.empty()) continue;
    std::string node = node_of_calls(planner, calls[i].call.name);
    update = std::move(update).send(node, std::to_string(i));
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

Task<Result<Update<GoalRun>>> plan_step(SharedPlanner planner, const GoalRun& state,
                                        Context& context) {
  auto waiting = co_await waiting_messages(context, false);
  if (!waiting.ok()) co_return std::move(waiting).error();
  UsedMessage used{state.step + 1, storable_text(steering_text(*waiting))};
  std::vector<UsedMessage> messages = state.messages;
  if (!waiting->empty()) messages.push_back(used);
  const GoalParams& params = state.goal.params;
  ModelRequest request = request_to(state, kPlanPurpose);
  request.tools = tools_of(planner->tools, params);
  request.temperature = params.temperature;
  request.max_output_tokens = params.maxTokens;
  std::string memory = memory_json(state.memory, state.omitted, state.last);
  int remaining = params.stepBudget - (state.step + 1);
  request.messages.push_back(
      {Role::system, system_prompt(state.goal.objective, request.tools, remaining, memory)});
  request.messages.push_back({Role::user, user_prompt(state.history, messages)});
  request.on_text_delta = [&context](std::string_view piece) {
    context.stream(storable_text(piece));
  };
  std::vector<ToolDefinition> tools = request.tools;
  auto reply = co_await context.model().generate(std::move(request));
  if (!reply.ok()) {
    // The budget is the run's own: the steps so far still have a summary.
    bool is_spent = reply.error().code == ErrorCode::exhausted && context.options().budget.is_set();
    if (!is_spent) co_return std::move(reply).error();
    std::string outcome = context.options().budget.money ? "cost_spent" : "tokens_spent";
    co_return set(&GoalRun::outcome, std::move(outcome)).go_to("summarize");
  }
  use_messages(*waiting, used.step, context);
  Update<GoalRun> update = update_with(*planner, state, *std::move(reply), tools, context);
  if (!waiting->empty()) update = std::move(update).append(&GoalRun::messages, std::move(used));
  co_return std::move(update);
}

}  // namespace belay::goals
