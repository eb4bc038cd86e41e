#pragma once
// belay/detail/played_run.h - what testing::World is told and what it has seen, without the state's
// type.

#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "belay/check.h"
#include "belay/runtime.h"

namespace belay::testing {

// Where a process dies. Take those of Played::crash_points(), or say before_commit(3).
struct CrashPoint {
  enum class When {
    before_commit,  // the commit never reaches the store
    answer_lost,    // it is written, and nobody hears of it
    between,        // while a node runs: after that commit, at the n-th moment
  };
  When when = When::before_commit;
  int commit = 0;         // counted from 1 in the process that dies
  int moment = 0;         // with `between`, counted from 1
  std::string text = {};  // in words: "before commit 3 (node of write) is written"

  friend bool operator==(const CrashPoint& one, const CrashPoint& other) {
    return one.when == other.when && one.commit == other.commit && one.moment == other.moment;
  }
  friend std::ostream& operator<<(std::ostream& out, const CrashPoint& crash) {
    return out << crash.text;
  }
};

}  // namespace belay::testing

namespace belay::testing::detail {

// What a world's processes have come to.
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
  std::vector<CrashPoint> moments;  // where its last process could have died
  int crashes = 0;

  int calls_of(std::string_view effect) const;
  int effects_of(std::string_view effect) const;
};

// The input as the graph's own state; null, with the fault, where it does not fit: a JSON graph
// checks what it is given.
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
