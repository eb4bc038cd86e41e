#include "agents/goals/goal_rules.h"

#include <algorithm>

#include "agents/goals/planner.h"

namespace belay::goals {
namespace {

Error unusable(std::string_view member, const std::string& expected) {
  return error(ErrorCode::invalid,
               "Invalid " + std::string(member) + ": expected " + expected + ".");
}

Result<Done> check_number(std::string_view member, std::optional<std::int64_t> number,
                          std::int64_t most) {
  if (!number || (*number >= 1 && *number <= most)) return Done{};
  return unusable(member, "1 to " + std::to_string(most));
}

Result<Done> check_one_of(std::string_view member, std::string_view text, std::string_view one,
                          std::string_view other) {
  if (text == one || text == other) return Done{};
  return unusable(member, std::string(one) + " or " + std::string(other));
}

Result<Done> check_tools(const std::vector<std::string>& allowed, const KnownTools& tools) {
  if (!tools.names) return Done{};
  for (const std::string& name : allowed) {
    if (std::find(tools.names->begin(), tools.names->end(), name) != tools.names->end()) continue;
    std::string known;
    for (const std::string& each : *tools.names) known += (known.empty() ? "" : ", ") + each;
    return error(ErrorCode::invalid,
                 "Unknown tool \"" + name +
                     "\" in allowedTools. Known tools: " + (known.empty() ? "none" : known) + ".");
  }
  return Done{};
}

bool is_blank_text(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace

Result<Done> check_goal(const Goal& goal, const KnownTools& tools) {
  BELAY_CHECK(check_name("goal's id", goal.id));
  if (is_blank_text(goal.objective)) {
    return unusable("objective", "a text");
  }
  if (goal.objective.size() > kObjectiveBytesMax) {
    return unusable("objective", "at most " + std::to_string(kObjectiveBytesMax) + " bytes");
  }
  const GoalParams& params = goal.params;
  BELAY_CHECK(check_number("stepBudget", params.stepBudget, kStepBudgetMax));
  BELAY_CHECK(check_number("maxTokens", params.maxTokens, kReplyTokensMax));
  BELAY_CHECK(check_number("tokenBudget", params.tokenBudget, limits::budget_max));
  BELAY_CHECK(check_number("costBudget", params.costBudget, limits::budget_max));
  BELAY_CHECK(check_number("tokenLimit", params.tokenLimit, limits::budget_max));
  if (params.temperature && !(*params.temperature >= 0 && *params.temperature <= kTemperatureMax)) {
    return unusable("temperature", "0 to 2");
  }
  BELAY_CHECK(check_one_of("memory", goal.memory, kFresh, kCarry));
  BELAY_CHECK(check_one_of("status", goal.status, kActive, kPaused));
  return goal.status == kPaused ? Result<Done>(Done{}) : check_tools(params.allowedTools, tools);
}

Result<Done> check_goal_record(const RecordWrite& write, const KnownTools& tools) {
  if (write.erase || write.collection != Goal::collection) return Done{};
  BELAY_TRY(Value value, parse_json(write.json));
  BELAY_TRY(Goal goal, decode_json<Goal>(value));
  if (goal.id != write.key) {
    return error(ErrorCode::invalid, "The goal \"" + write.key + "\" has the id \"" + goal.id +
                                         "\". Save it under its id.");
  }
  return check_goal(goal, tools);
}

}  // namespace belay::goals
