#pragma once
// tests/property/player.h - executes scenarios in a simulated world, with crashes, to their end.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "belay/check.h"
#include "belay/runtime.h"
#include "belay/testing.h"
#include "store/forwarding_store.h"
#include "tests/property/scenario.h"

namespace belay::property {

// Forwards all calls, and can fail at a chosen commit in each way in which a store or its process
// can fail. Records the acknowledged commits.
class FailingStore final : public ForwardingStore {
 public:
  explicit FailingStore(Store& inner) : ForwardingStore(inner) {}

  void fail_at(const Crash& crash);
  // Returns whether a commit got no reply: the test considers the process dead then.
  bool has_died() const { return has_died_; }
  void revive() { has_died_ = false; }
  bool is_armed() const { return left_.has_value(); }

  Task<Result<CommitOutcome>> commit(Commit commit) override;

  std::vector<std::pair<RunId, std::uint64_t>> acknowledged;
  std::map<TaskId, int> ended;  // number of commits that ended a node, by task
  std::function<void()> when_it_dies;
  std::function<void(const CommitRows&)> when_acknowledged;

 private:
  std::optional<int> left_;
  int way_ = Crash::loses_the_commit;
  bool has_died_ = false;
};

// The result of a run, without ids and times.
struct Outcome {
  std::string status, outcome, error, node;
  std::int64_t retry_count = 0;
  std::string state;
  std::vector<std::string> commits;    // kind, node and next node of each, without claims
  std::vector<std::string> approvals;  // requests and decisions
  std::vector<std::string> records;
  std::vector<std::string> events;  // custom events
  friend bool operator==(const Outcome&, const Outcome&) = default;
};
std::ostream& operator<<(std::ostream& out, const Outcome& outcome);

class Player {
 public:
  explicit Player(std::uint64_t seed = 1);

  // Executes a scenario on its own thread until its run has ended, whatever faults occur. Returns
  // the final RunView.
  RunView play(const Scenario& scenario, std::vector<Crash> crashes,
               const std::string& thread = "t");
  // Executes a scenario until an approval is open or the run has ended.
  RunView play_until_asked(const Scenario& scenario, const std::string& thread = "t");

  // Starts a new process on the same store; the old one is dead.
  void reopen();

  // Returns nothing if the process died before the result.
  template <typename T>
  std::optional<T> try_wait(Task<T> task) {
    std::optional<T> result;
    std::function<void(T)> done = [&](T value) {
      result.emplace(std::move(value));
      loop.stop();
    };
    Spawned running = spawn<T>(loop, std::move(task), std::move(done));
    if (!result && !store.has_died()) loop.run();
    return result;
  }
  template <typename T>
  T wait(Task<T> task) {
    std::optional<T> result = try_wait(std::move(task));
    BELAY_ASSERT(result.has_value());
    return std::move(*result);
  }

  Task<Result<RunView>> begin(const Scenario& scenario, const std::string& thread);
  // Compares the view that a call returned for an ended run with the stored run.
  void note_end(const std::optional<Result<RunView>>& answer);
  Decision decision(int verdict) const;
  RunView status(const std::string& thread);
  std::vector<CheckpointRow> checkpoints(const RunView& view);
  std::vector<ApprovalRow> approvals(const RunView& view);
  std::vector<EventRow> events(const RunView& view);
  std::vector<StoredRecord> footprints();
  Outcome outcome(const RunView& view);

  // Returns the violations that the checkers find, as text; empty if there are none.
  std::string violations();
  // Returns the violations of one rule.
  std::string violations(std::string_view rule);

  testing::SimulatedClock clock{*instant_from("2026-11-21T12:00:00Z")};
  testing::SeededRandom random;
  testing::SimulatedLoop loop{clock};
  testing::ScriptedModel model;
  std::unique_ptr<Store> memory = open_memory_store(clock, random);
  FailingStore store{*memory};
  std::unique_ptr<Runtime> runtime;
  // Forbidden behaviour: a node that started after its end was durable.
  std::vector<std::string> faults;

 private:
  // Makes the next call that the run needs; returns false if the run has ended.
  bool move_on(const Scenario& scenario, const std::string& thread, std::size_t& decided);
  void decide(const RunView& view, int verdict);
  void watch(const ProgressEvent& event);

  std::vector<Graph<Trail>> graphs_;
};

// Returns the graph's name for a scenario on this thread.
std::string graph_name(const std::string& thread);

}  // namespace belay::property
