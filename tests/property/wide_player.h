#pragma once
// tests/property/wide_player.h - executes random graphs with parallel nodes through crashes.

#include <rapidcheck.h>

#include <iosfwd>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/property/player.h"

namespace belay::property {

// The state of every wide graph: one channel for each write operation.
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
  // The nodes of a layer execute in parallel and are joined before the next layer.
  std::vector<std::vector<int>> layers;
  int durability = 0;  // as Durability
  int parallel = 8;
  bool stops = false;          // at some breakpoints
  bool decides_early = false;  // while other tasks still execute
  std::uint64_t seed = 1;
};

rc::Gen<WideScenario> any_wide_scenario();
std::ostream& operator<<(std::ostream& out, const WideScenario& scenario);

// A changed node in a graph of the same shape: its update or its branch differs.
struct WideChange {
  enum What { update, route };
  std::string node;
  What what = update;
};
std::ostream& operator<<(std::ostream& out, const WideChange& change);

class WidePlayer {
 public:
  // `speed` changes the durations of nodes, and nothing else.
  explicit WidePlayer(const WideScenario& scenario, std::uint64_t speed = 1);

  // Executes the run to its end.
  RunView play(std::vector<Crash> crashes);
  // Returns the violations that the checkers find and all forbidden behaviour of the run; empty if
  // there are none.
  std::string violations();
  // Returns the first difference that a replay finds, with the original graph or with `change`. If
  // the run cannot be replayed, returns a difference that contains the error message.
  std::optional<Divergence> divergence(const WideChange& change = {});
  std::shared_ptr<const GraphDefinition> graph() const { return graph_.definition(); }
  // All possible changes of the graph, including those of nodes that might never have been
  // executed.
  std::vector<WideChange> changes;
  // Returns all commits of the run in order.
  std::vector<CheckpointRow> commits_of_run();
  // Returns all events of the run after `after` as texts; reads the store's current contents.
  std::vector<std::string> events(std::optional<EventId> after = std::nullopt);
  std::optional<EventId> last_event;  // the last one that events() returned
  // Called after each acknowledged commit.
  std::function<void()> when_committed;
  // Returns everything that the store contains of the run, as text.
  std::string rows();

  testing::SimulatedClock clock{*instant_from("2026-11-21T12:00:00Z")};
  testing::SeededRandom random{1};
  testing::SimulatedLoop loop{clock};
  testing::ScriptedModel model;
  std::unique_ptr<Store> memory = open_memory_store(clock, random);
  FailingStore store{*memory};
  std::unique_ptr<Runtime> runtime;
  int commits = 0;  // acknowledged, including pending ones

 private:
  // The observations of nodes, which outlive the processes.
  struct Watch {
    std::set<TaskId> done;  // tasks whose end is durable
    std::vector<std::string> faults;
  };

  Graph<Wide> graph_of(const WideScenario& scenario, std::uint64_t speed,
                       const WideChange& change = {});
  void reopen();
  void note(const CommitRows& rows);
  void note_superstep(const CheckpointRow& checkpoint);
  bool move_on();
  // Stores the view that a call returned for an ended run, for comparison with the stored run.
  void note_end(const std::optional<Result<RunView>>& answer);
  void decide(const ApprovalRow& approval);
  std::vector<ApprovalRow> open_approvals();
  template <typename T>
  std::optional<T> try_wait(Task<T> task, bool early = false);

  WideScenario scenario_;
  std::optional<RunView> shown_end_;
  std::shared_ptr<Watch> watch_ = std::make_shared<Watch>();
  Graph<Wide> graph_;
  // By namespace: the next tasks of the newest durable commit, and their superstep.
  std::map<std::string, std::pair<std::int64_t, std::vector<TaskId>>> chosen_;
};

}  // namespace belay::property
