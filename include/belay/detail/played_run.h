#pragma once
// belay/detail/played_run.h - crash points and the trace of a scenario, without the state's type.

#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "belay/check.h"
#include "belay/runtime.h"

namespace belay::testing {

// A point at which a process can crash: one of ScenarioResult::crash_points(), or before_commit(3).
struct CrashPoint {
  enum class When {
    before_commit,  // the commit never reaches the store
    answer_lost,    // it is written, and the process does not receive its outcome
    between,        // while a node runs: after that commit, at the n-th moment
  };
  When when = When::before_commit;
  int commit = 0;         // counted from 1 in the process that crashes
  int moment = 0;         // with `between`, counted from 1
  std::string text = {};  // for display: "before commit 3 (node of write) is written"

  friend bool operator==(const CrashPoint& one, const CrashPoint& other) {
    return one.when == other.when && one.commit == other.commit && one.moment == other.moment;
  }
  friend std::ostream& operator<<(std::ostream& out, const CrashPoint& crash) {
    return out << crash.text;
  }
};

}  // namespace belay::testing

namespace belay::testing::detail {

// The observations of a scenario, over all of its processes.
struct RunTrace {
  std::optional<Error> error;
  RunView view;
  std::vector<std::string> path;
  std::map<std::string, int> attempts;
  // Calls of effects' functions as their receivers saw them, each with its outcome: `uncertain` if
  // the function threw, `intended` if the call was stopped while it waited.
  std::vector<EffectRow> calls;
  std::vector<CheckpointRow> commits;
  std::vector<EventRow> events;
  std::vector<NodeEffects::Message> messages;
  std::vector<ApprovalRow> approvals;
  std::vector<RecordRow> records;
  std::vector<Violation> violations;
  std::vector<ModelRequest> requests;
  std::vector<CrashPoint> moments;  // the crash points of its last process
  int crashes = 0;

  int calls_of(std::string_view effect) const;
  int effects_of(std::string_view effect) const;
};

// Returns the input as a state of the graph; null, with the fault, if it does not fit. Only the
// input of a JSON graph can be invalid.
template <GraphState State>
std::shared_ptr<const void> input_of(const Graph<State>& graph, State input,
                                     std::optional<Error>& fault) {
  if constexpr (std::is_same_v<State, Value>) {
    auto state = state_from(*graph.definition()->state, input);
    if (state.ok()) return *std::move(state);
    fault = std::move(state).error();
    return nullptr;
  } else {
    return std::make_shared<const State>(std::move(input));
  }
}

}  // namespace belay::testing::detail
