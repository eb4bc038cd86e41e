#pragma once
// tests/property/wide_player.h - random graphs with several nodes at once, played through crashes.

#include <rapidcheck.h>

#include <iosfwd>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/property/player.h"

namespace belay::property {

// The state of every wide graph: a channel of each kind.
struct Wide {
  std::string draft = "begun";
  std::int64_t sum = 0;
  std::vector<std::string> log = {};
  std::map<std::string, std::int64_t> marks = {};
  std::int64_t most = 0;  // by the graph's own reducer
  bool approved = false;
};

struct WideScenario {
  enum Kind {
    work,
    slow,
    flaky,
    approve,
    wait,
    inside,
    asks_inside,
    question,
    sends,
    chain,
    save,
    chooses
  };
  // Each layer's nodes are visited at once, and joined before the next layer.
  std::vector<std::vector<int>> layers;
  int durability = 0;  // as Durability
  int parallel = 8;
  bool stops = false;          // at breakpoints, here and there
  bool decides_early = false;  // while other tasks still work
  std::uint64_t seed = 1;
};

rc::Gen<WideScenario> any_wide_scenario();
std::ostream& operator<<(std::ostream& out, const WideScenario& scenario);

// Another code of a node in the very same shape of graph: what it says, or where it goes.
struct WideChange {
  enum What { update, route };
  std::string node;
  What what = update;
};
std::ostream& operator<<(std::ostream& out, const WideChange& change);

class WidePlayer {
 public:
  // `speed` changes how long nodes take, and nothing else.
  explicit WidePlayer(const WideScenario& scenario, std::uint64_t speed = 1);

  // Plays the run to its end.
  RunView play(std::vector<Crash> crashes);
  // What the checkers find, and what no run may do; empty when all is well.
  std::string violations();
  // The first difference that a replay finds, by the graph as it was played or as it was changed
  // since. No difference that says what is wrong, where it can't be replayed.
  std::optional<Divergence> divergence(const WideChange& change = {});
  std::shared_ptr<const GraphDefinition> graph() const { return graph_.definition(); }
  // All changes that the graph may have had since, of nodes that may never have been visited too.
  std::vector<WideChange> changes;
  // All commits of the run, in their order.
  std::vector<CheckpointRow> commits_of_run();
  // The run's events after `after`, as texts, all that there are; reads the store as it is now.
  std::vector<std::string> events(std::optional<EventId> after = std::nullopt);
  std::optional<EventId> last_event;  // of those that events() has given
  // Called after each acknowledged commit.
  std::function<void()> when_committed;
  // All that the store holds of the run, as text.
  std::string rows();

  testing::SimulatedClock clock{*instant_from("2026-11-21T12:00:00Z")};
  testing::SeededRandom random{1};
  testing::SimulatedLoop loop{clock};
  testing::ScriptedModel model;
  std::unique_ptr<Store> memory = open_memory_store(clock, random);
  FailingStore store{*memory};
  std::unique_ptr<Runtime> runtime;
  int commits = 0;  // acknowledged, pending ones included

 private:
  // What nodes note of themselves, in whatever process they run.
  struct Watch {
    std::set<TaskId> done;  // whose end is durable
    std::vector<std::string> faults;
  };

  Graph<Wide> graph_of(const WideScenario& scenario, std::uint64_t speed,
                       const WideChange& change = {});
  void reopen();
  void note(const CommitRows& rows);
  void note_superstep(const CheckpointRow& checkpoint);
  bool move_on();
  // Keeps what a call says of a run that has ended, to be compared with what is stored of it.
  void note_end(const std::optional<Result<RunView>>& answer);
  void decide(const ApprovalRow& approval);
  std::vector<ApprovalRow> open_approvals();
  template <typename T>
  std::optional<T> try_wait(Task<T> task, bool early = false);

  WideScenario scenario_;
  std::optional<RunView> shown_end_;
  std::shared_ptr<Watch> watch_ = std::make_shared<Watch>();
  Graph<Wide> graph_;
  // By space: the tasks that the newest durable commit has chosen, and their superstep.
  std::map<std::string, std::pair<std::int64_t, std::vector<TaskId>>> chosen_;
};

}  // namespace belay::property
