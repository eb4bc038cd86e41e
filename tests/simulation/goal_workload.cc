#include "tests/simulation/goal_workload.h"

#include "agents/goals/planner.h"

namespace belay::simulation {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kStepsWithCalls = 3;
constexpr const char* kGuide = "guide";

struct ItemArguments {
  int step = 0;
};

// Results differ in nothing: a lost reply of a receiver is an observation, too.
Tool outside_tool(const std::string& name, ToolEffect effect, const std::string& receiver,
                  Outside& outside, ProcessId process) {
  ToolOptions options;
  options.name = name;
  options.description = "Calls the world outside.";
  options.effect = effect;
  return make_tool<ItemArguments>(
      std::move(options),
      [receiver, &outside, process](const ItemArguments&,
                                    ToolContext& call) -> Task<Result<std::string>> {
        std::string thread = call.node().thread().text;
        std::string to = receiver;
        std::string key = call.key();
        auto called =
            co_await outside.call(process, std::move(thread), std::move(to), std::move(key));
        if (!called.ok()) co_return std::move(called).error();
        co_return std::string("called");
      });
}

// The agent that the goal calls like a tool. Its question is "THREAD STEP".
SubAgent guide(Outside& outside, ProcessId process) {
  AgentOptions options;
  options.prompt = "You guide a person.";
  options.tools = {outside_tool("ask", ToolEffect::keyed, kKeyedCalls, outside, process)};
  options.retry = {.attempts = limits::run_attempts_max, .base = 100ms, .cap = 4s};
  options.model_timeout = 20s;
  return sub_agent(kGuide, "Guides a person.", std::move(options));
}

std::shared_ptr<const GraphDefinition> goal_definition(Outside& outside, ProcessId process) {
  std::vector<Tool> tools = {
      outside_tool("charge", ToolEffect::keyed, kKeyedCalls, outside, process),
      outside_tool("send", ToolEffect::unkeyed, kUnkeyedCalls, outside, process)};
  std::vector<SubAgent> agents = {guide(outside, process)};
  return goals::goal_graph(std::move(tools), std::move(agents)).value().definition();
}

std::string thread_of(std::uint64_t number) { return "goal-" + std::to_string(number); }

std::shared_ptr<void> fresh_goal(std::uint64_t number) {
  auto run = std::make_shared<goals::GoalRun>();
  run->goal.id = run->goal.objective = thread_of(number);
  run->goal.params.stepBudget = goals::kStepBudgetMax;
  return run;
}

// Messages add steps after the three with calls.
std::string wrong_goal(const RunView& view) {
  const Value& state = view.state;
  auto steps = state["step"].as_int();
  std::int64_t guided = 0;
  if (const Value::Array* memory = state["memory"].as_array()) {
    for (const Value& entry : *memory) {
      const std::string* text = entry["text"].as_string();
      guided += text && text->starts_with("guided");
    }
  }
  bool is_right = view.row.status == RunStatus::completed && view.row.outcome == "finished" &&
                  steps && *steps > kStepsWithCalls && guided == kStepsWithCalls &&
                  state["summary"].as_string() && !state["summary"].as_string()->empty();
  return is_right ? ""
                  : std::string(name_of(view.row.status)) + " " + view.row.outcome + " " +
                        view.row.error + " " + to_json(state);
}

const std::string* text_of_role(const ModelRequest& request, Role role) {
  for (const Message& message : request.messages) {
    if (message.role == role) return &message.text;
  }
  return nullptr;
}

ToolCall call_of(const std::string& tool, std::int64_t step) {
  return {tool + "-" + std::to_string(step), tool, Value::object({{"step", step}})};
}

RunOptions patient() {
  RunOptions options;
  options.timeout = std::chrono::hours(48);
  options.max_retries = limits::run_attempts_max;
  return options;
}

}  // namespace

Workload goal_workload() {
  return {
      std::string(goals::kGoalGraph), goal_definition, fresh_goal, patient(), wrong_goal, 1, true};
}

std::optional<GoalRequest> goal_request(const ModelRequest& request) {
  if (request.purpose == goals::kPlanPurpose || request.purpose == goals::kSummaryPurpose) {
    return GoalRequest{*request.input["objective"].as_string(),
                       request.input["steps"].as_int().value_or(0) + 1};
  }
  if (request.purpose != "agent/" + std::string(kGuide)) return std::nullopt;
  const std::string& question = *text_of_role(request, Role::user);
  std::size_t space = question.rfind(' ');
  return GoalRequest{question.substr(0, space), *parse_json(question.substr(space + 1))->as_int()};
}

void answer_goal(const ModelRequest& request, bool lies, ModelReply& reply) {
  GoalRequest asked = *goal_request(request);
  reply.text.clear();
  if (request.purpose == goals::kSummaryPurpose) {
    reply.text = "Done.";
  } else if (request.purpose == goals::kPlanPurpose) {
    reply.text = "Step " + std::to_string(asked.step);
    if (asked.step > kStepsWithCalls) return;
    reply.tool_calls = {call_of("charge", asked.step), call_of("send", asked.step)};
    if (lies) reply.tool_calls.push_back(call_of("dance", asked.step));
    Value question = Value::object({{"question", asked.thread + " " + std::to_string(asked.step)}});
    reply.tool_calls.push_back({"guide", kGuide, std::move(question)});
  } else if (text_of_role(request, Role::tool)) {
    reply.text = "guided";
  } else {
    reply.tool_calls = {call_of("ask", asked.step)};
  }
  if (!reply.tool_calls.empty()) reply.stop_reason = StopReason::tool_calls;
}

}  // namespace belay::simulation
