#pragma once
// goals/goal_rules.h - decides whether a goal can be saved, by whichever route it comes.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/goals/records.h"

namespace belay::goals {

inline constexpr std::size_t kObjectiveBytesMax = 8'000;
inline constexpr std::int64_t kReplyTokensMax = 1'000'000;  // GoalParams::maxTokens
inline constexpr double kTemperatureMax = 2;

// The tools that goals can name. Unset until the graphs are built: the names are then not checked.
struct KnownTools {
  std::optional<std::vector<std::string>> names = std::nullopt;
};

// Returns `invalid`, with the member and its bounds, for a goal that must not be saved. A paused
// goal may name tools that no longer exist.
Result<Done> check_goal(const Goal& goal, const KnownTools& tools);

// Module::check_record.
Result<Done> check_goal_record(const RecordWrite& write, const KnownTools& tools);

}  // namespace belay::goals
