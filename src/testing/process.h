#pragma once
// testing/process.h - a simulated process of a World, with its crash points: at each of its commits
// and while a node executes. After a crash, only running calls of effects continue: they belong to
// the outside world and end there. The owner must destroy the objects of the dead process.
//
// Threading: the simulated loop's.

#include <optional>
#include <string>
#include <vector>

#include "belay/testing.h"
#include "store/forwarding_store.h"

namespace belay::testing {

class Process final : public Executor {
 public:
  Process(SimulatedLoop& loop, std::optional<CrashPoint> crash)
      : loop_(loop), crash_(std::move(crash)) {}

  bool is_dead() const { return dead_; }
  // Returns the crash points that the process has reached, in order.
  std::vector<CrashPoint> take_moments() { return std::exchange(moments_, {}); }

  // Called before a commit is written and after it was written; false: the process dies there.
  bool begins_commit(const Commit& commit);
  bool ends_commit();
  // Called when a node's code starts, when it continues, and when it has ended.
  void starts_node(const std::string& node);
  void continues_node(const std::string& node) { ran_.push_back(node); }
  void ends_node(const std::string& node);
  // Called after each event of a running node that can be a crash point; false: the process dies.
  bool passes(std::string what);
  // A call of an effect of this task is running. Events that it waits for arrive even after
  // the death of the process.
  void begins_call(const TaskId& task) { calls_under_way_.push_back(task); }
  void ends_call(const TaskId& task) { std::erase(calls_under_way_, task); }
  bool is_calling(const TaskId& task) const;

  // Executor:
  void post(Work work) override { loop_.post(alive(std::move(work))); }
  TimerId call_after(std::chrono::microseconds delay, Work work) override {
    return loop_.call_after(delay, alive(std::move(work)));
  }
  void cancel(TimerId timer) override { loop_.cancel(timer); }
  bool offload(Work work) override { return loop_.offload(alive(std::move(work))); }
  // The same for the work of a running call.
  void post_of_call(Work work) { loop_.post(of_call(std::move(work))); }
  TimerId call_of_call_after(std::chrono::microseconds delay, Work work) {
    return loop_.call_after(delay, of_call(std::move(work)));
  }
  bool offload_of_call(Work work) { return loop_.offload(of_call(std::move(work))); }

 private:
  Work alive(Work work);
  Work of_call(Work work);
  // Adds a crash point for a node whose code ran in this piece of work and now waits for an event.
  void note_waits();
  // Records the crash point. Returns false if the process dies at it.
  bool outlives(CrashPoint moment);
  // Stops the loop after a crash, as soon as no running call waits for an event.
  void stop_when_still();

  SimulatedLoop& loop_;
  std::optional<CrashPoint> crash_;
  bool dead_ = false;
  int commits_ = 0;
  int passed_ = 0;  // since the last commit
  bool is_committing_ = false;
  std::string committing_;            // description of that commit
  std::vector<std::string> running_;  // nodes that have started and not ended
  std::vector<std::string> ran_;      // nodes whose code ran in this piece of work
  std::vector<CrashPoint> moments_;
  std::vector<TaskId> calls_under_way_;
  // Shared with each pending piece of work of such calls.
  std::shared_ptr<int> of_calls_ = std::make_shared<int>(0);
};

// Everything that a test can observe after the processes of a World have ended.
struct Traces {
  std::map<std::string, int> attempts;
  std::vector<EffectRow> calls;
  std::vector<ModelRequest> requests;
  // The script now, and at the last commit that made replies durable; a crash restores the latter.
  ScriptedModel script;
  ScriptedModel committed_script;
  // Input of check_store().
  std::vector<std::pair<RunId, std::uint64_t>> acknowledged;
  std::vector<EffectRow> done_effects;
  std::vector<std::string> collections;

  void know_collection(const std::string& name);
  // Returns the newest call of this effect of this task; null if it was not called.
  const EffectRow* last_call(const TaskId& task, std::string_view name) const;
};

// The store of one process: records its commits and drops them after its crash.
class ProcessStore final : public ForwardingStore {
 public:
  ProcessStore(Process& process, Store& inner, Traces& traces)
      : ForwardingStore(inner), process_(process), traces_(traces) {}

  Task<Result<CommitOutcome>> commit(Commit commit) override;

 private:
  Process& process_;
  Traces& traces_;
};

// The model of one process: records its requests; does not return after the crash.
class ProcessModel final : public Model {
 public:
  ProcessModel(Process& process, Model& inner, Traces& traces)
      : process_(process), inner_(inner), traces_(traces) {}
  Task<Result<ModelReply>> generate(ModelRequest request) override;
  std::optional<ModelPrice> price(const ModelRequest& request) const override {
    return inner_.price(request);
  }
  std::int64_t input_tokens_max(const ModelRequest& request) const override {
    return inner_.input_tokens_max(request);
  }

 private:
  Process& process_;
  Model& inner_;
  Traces& traces_;
};

// Returns a copy of the graph whose nodes report their execution to `process`, and do not execute
// if the process is dead.
std::shared_ptr<const GraphDefinition> watched(const GraphDefinition& graph, Process& process,
                                               Traces& traces);

// Observes the calls of effects. Throws Failure if the process dies at one of them, so that the
// running node does not continue.
EffectObserver watch_effects(Process& process, Traces& traces);

}  // namespace belay::testing
