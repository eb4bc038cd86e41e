#pragma once
// testing/process.h - a process of a World: it can die at each of its commits, and while
// a node runs. After its death, only running calls of effects continue: they belong to
// the outside world and end there. Its owner must destroy the objects of the dead
// process.
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
  // Where it could have died, in order.
  std::vector<CrashPoint> take_moments() { return std::exchange(moments_, {}); }

  // A commit is about to be written, or has just been; false: the process dies there.
  bool begins_commit(const Commit& commit);
  bool ends_commit();
  // A node's code is about to run, goes on, or has ended.
  void starts_node(const std::string& node);
  void continues_node(const std::string& node) { ran_.push_back(node); }
  void ends_node(const std::string& node);
  // Something that a crash may come after while a node runs; false: it comes.
  bool passes(std::string what);
  // A call of an effect of this task is running. Events that it waits for arrive even after
  // the death of the process.
  void begins_call(const TaskId& task) { calls_under_way_.push_back(task); }
  void ends_call(const TaskId& task) { std::erase(calls_under_way_, task); }
  bool is_calling(const TaskId& task) const;

  // The executor itself.
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
  // A node whose code ran in a piece of work, and has not ended, waits for an event.
  void note_waits();
  // Notes the moment, and whether the process outlives it.
  bool outlives(CrashPoint moment);
  // The loop continues while a call of a dead process has an event to wait for.
  void stop_when_still();

  SimulatedLoop& loop_;
  std::optional<CrashPoint> crash_;
  bool dead_ = false;
  int commits_ = 0;
  int passed_ = 0;  // since the last commit
  bool is_committing_ = false;
  std::string committing_;            // in words
  std::vector<std::string> running_;  // nodes that have begun and not ended
  std::vector<std::string> ran_;      // those whose code ran in this piece of work
  std::vector<CrashPoint> moments_;
  std::vector<TaskId> calls_under_way_;
  // Shared with each pending piece of work of such calls.
  std::shared_ptr<int> of_calls_ = std::make_shared<int>(0);
};

// What the processes of a world leave behind, whichever of them.
struct Traces {
  std::map<std::string, int> attempts;
  std::vector<EffectRow> calls;
  std::vector<ModelRequest> requests;
  // The script as it stands, and as it stood when answers were last made durable.
  ScriptedModel script;
  ScriptedModel committed_script;
  // For the checkers.
  std::vector<std::pair<RunId, std::uint64_t>> acknowledged;
  std::vector<EffectRow> done_effects;
  std::vector<std::string> collections;

  void know_collection(const std::string& name);
  // The newest call of this effect of this task; null for none.
  const EffectRow* last_call(const TaskId& task, std::string_view name) const;
};

// The store as one process sees it.
class ProcessStore final : public ForwardingStore {
 public:
  ProcessStore(Process& process, Store& inner, Traces& traces)
      : ForwardingStore(inner), process_(process), traces_(traces) {}

  Task<Result<CommitOutcome>> commit(Commit commit) override;

 private:
  Process& process_;
  Traces& traces_;
};

// The model as one process sees it.
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

// The same graph, whose nodes say when they run, and do not where the process is dead.
std::shared_ptr<const GraphDefinition> watched(const GraphDefinition& graph, Process& process,
                                               Traces& traces);

// Sees the calls of effects. Throws Failure where the process dies at one, so that the node, which
// is in the midst of it, goes no further.
EffectObserver watch_effects(Process& process, Traces& traces);

}  // namespace belay::testing
