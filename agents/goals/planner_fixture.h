#pragma once
// goals/planner_fixture.h - models and tools for the tests of the planner.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "agents/goals/planner.h"
#include "belay/testing.h"

namespace belay::goals {

// Arguments of the tools below.
struct Words {
  std::string text{};
};

inline Value words(std::string text) { return Value::object({{"text", std::move(text)}}); }

// "look": reads, returns "saw TEXT"; fails for "nothing", and is large for "large".
inline Tool look_tool() {
  return make_tool<Words>({.name = "look", .description = "Looks.", .effect = ToolEffect::reads},
                          [](const Words& arguments, ToolContext&) -> Result<std::string> {
                            if (arguments.text == "nothing")
                              return error(ErrorCode::not_found, "Nothing there.");
                            if (arguments.text == "large") return std::string(5'000, 'x') + "€ end";
                            return "saw " + arguments.text;
                          });
}

// "note": a keyed effect, returns "noted TEXT".
inline Tool note_tool() {
  return make_tool<Words>(
      {.name = "note", .description = "Notes.", .effect = ToolEffect::keyed},
      [](const Words& arguments, ToolContext&) { return "noted " + arguments.text; });
}

inline ModelReply planned(std::string text, std::vector<ToolCall> calls = {},
                          StopReason reason = StopReason::tool_calls) {
  ModelReply reply;
  reply.text = std::move(text);
  reply.provider = reply.model = reply.method = "script";
  reply.usage = Usage{70, 30};
  reply.tool_calls = std::move(calls);
  reply.stop_reason = reply.tool_calls.empty() ? StopReason::complete : reason;
  return reply;
}

// The number of the step that a request plans.
inline int step_of(const ModelRequest& request) {
  return static_cast<int>(request.input["steps"].as_int().value_or(0)) + 1;
}

// Replies by the number of the step; the last one is repeated. The summary is "Summary.".
inline testing::ScriptedModel plans(std::vector<ModelReply> steps) {
  return testing::replies_with(
      [steps = std::move(steps)](const ModelRequest& request) -> Result<ModelReply> {
        if (request.purpose == kSummaryPurpose) return planned("Summary.");
        auto index = static_cast<std::size_t>(step_of(request) - 1);
        return steps[std::min(index, steps.size() - 1)];
      });
}

inline GoalRun goal_input(std::string objective = "Find it") {
  GoalRun run;
  run.goal.id = "g";
  run.goal.objective = std::move(objective);
  return run;
}

// The steps without times, as JSON texts.
inline std::vector<std::string> step_texts(std::vector<GoalStep> steps) {
  std::vector<std::string> texts;
  for (GoalStep& step : steps) {
    step.createdAt = Instant{};
    step.durationMs = 0;
    for (StepCall& call : step.calls) call.durationMs = 0;
    texts.push_back(encode_json(step).value_or(""));
  }
  return texts;
}

}  // namespace belay::goals
