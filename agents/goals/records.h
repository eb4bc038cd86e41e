#pragma once
// goals/records.h - the records of goals: a goal, the steps of its runs, and large results.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "belay/collection.h"
#include "belay/tool.h"

namespace belay::goals {

inline constexpr std::string_view kActive = "active";
inline constexpr std::string_view kPaused = "paused";
inline constexpr std::string_view kFresh = "fresh";  // each run starts without memory
inline constexpr std::string_view kCarry = "carry";  // a run reads the memory of the last one

inline constexpr int kStepBudgetDefault = 10;
inline constexpr int kStepBudgetMax = 100;

// How the runs of a goal are executed.
struct GoalParams {
  std::vector<std::string> allowedTools = {};  // empty: all tools
  int stepBudget = kStepBudgetDefault;
  std::optional<double> temperature = std::nullopt;        // unset: that of the model
  std::optional<std::int64_t> maxTokens = std::nullopt;    // of one reply
  std::optional<std::int64_t> tokenBudget = std::nullopt;  // of a run, a hard limit
  std::optional<std::int64_t> costBudget = std::nullopt;   // likewise, in millionths of money
  std::optional<std::int64_t> tokenLimit = std::nullopt;   // of a run: then a person is asked
  std::string model = {};                                  // empty: the model of the process
};

struct Goal {
  static constexpr std::string_view collection = "goals";

  std::string id{};
  std::string objective{};
  GoalParams params{};
  std::string memory{kFresh};
  std::string status{kActive};
  std::int64_t priority = 0;  // of its runs in the queue
  Instant createdAt{};
  Instant updatedAt{};

  std::string key() const { return id; }
  static auto indexed() { return std::tuple(); }
  static auto ordered() { return std::tuple{ordered_index("created", &Goal::createdAt)}; }
  static void describe(Described<Goal>& about) {
    about.member(&Goal::status).one_of({std::string(kActive), std::string(kPaused)});
    about.member(&Goal::memory).one_of({std::string(kFresh), std::string(kCarry)});
  }
};

// One call of a tool in a step.
struct StepCall {
  std::string tool{};
  Value input{};
  std::string observation{};  // of a large result: its beginning
  std::string error{};
  std::string result{};  // of a large result: the id of its GoalResult
  // From the start of the call until all calls of its step had ended.
  std::int64_t durationMs = 0;
};

// One step of a run: a reply of the model, and the calls that it requested.
struct GoalStep {
  static constexpr std::string_view collection = "goal_steps";

  std::string goal{};
  std::string run{};
  int number = 0;  // from 1
  std::string thought{};
  std::vector<StepCall> calls{};
  std::string observation{};  // of all calls
  std::string error{};        // of the calls that failed, and of the reply
  Instant createdAt{};
  std::int64_t durationMs = 0;

  std::string key() const { return step_key(run, number); }
  static std::string step_key(const std::string& run, int number) {
    std::string digits = std::to_string(number);
    return run + "-" + std::string(digits.size() < 3 ? 3 - digits.size() : 0, '0') + digits;
  }
  static auto indexed() { return std::tuple{&GoalStep::goal, &GoalStep::run}; }
  static auto ordered() {
    return std::tuple{ordered_index("run_number", &GoalStep::run, &GoalStep::number)};
  }
};

// A result that the working memory refers to.
struct GoalResult {
  static constexpr std::string_view collection = "goal_results";

  std::string id{};
  std::string goal{};
  std::string run{};
  std::string text{};
  std::int64_t characters = 0;
  Instant createdAt{};

  std::string key() const { return id; }
  static auto indexed() { return std::tuple{&GoalResult::goal}; }
};

}  // namespace belay::goals
