#pragma once
// tests/support/wellbeing_fixture.h - test fixture for the agents: simulated time, a scripted
// model, a memory store, and a runtime that can be destroyed and reopened.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/wellbeing/wellbeing.h"
#include "belay/testing.h"

namespace belay::wellbeing::testing {

using belay::testing::ScriptedModel;
using belay::testing::SeededRandom;
using belay::testing::SimulatedClock;
using belay::testing::SimulatedLoop;

inline constexpr const char* kToday = "2024-01-15";
inline constexpr const char* kTomorrow = "2024-01-16";

// {"summary": ..., "riskLevel": ..., "keyInsights": ["insight"]}
std::string audit_text(int risk, std::string_view summary = "A summary.");
// A valid schedule with four activities.
std::string schedule_text();
Value schedule_value();

// Forwards all calls. From a given commit on, it can stop completing commits, as if the process had
// died.
class HaltingStore final : public Store {
 public:
  enum class Loses { the_commit, the_answer };

  explicit HaltingStore(Store& inner) : inner_(inner) {}

  // Forwards `commits` more commits; the next one is lost, or only its result is.
  void halt_after(std::size_t commits, Loses what);
  void heal();
  bool halted() const { return halted_; }
  // Called when a commit is not completed.
  std::function<void()> when_halted;
  std::size_t commits() const { return commits_; }

  Task<Result<CommitOutcome>> commit(Commit commit) override;
  Task<Result<Done>> read(Reader reader) override { return inner_.read(std::move(reader)); }
  Result<SessionId> open_session() override { return inner_.open_session(); }
  void close_session(const SessionId& session) override { inner_.close_session(session); }
  Result<bool> is_alive(const SessionId& session) override { return inner_.is_alive(session); }

 private:
  Store& inner_;
  std::size_t commits_ = 0;
  bool halted_ = false;
  std::optional<std::size_t> left_;
  Loses what_ = Loses::the_commit;
};

class WellbeingFixture {
 public:
  explicit WellbeingFixture(WellbeingOptions wanted = english(), Model* other_model = nullptr);

  static WellbeingOptions english();

  // Destroys the runtime with all running work, and opens another one on the same store.
  void reopen();

  // Runs the loop until the coroutine has ended; nullopt if it cannot end.
  template <typename T>
  std::optional<T> try_wait(Task<T> task) {
    std::optional<T> result;
    std::function<void(T)> done = [&](T value) {
      result.emplace(std::move(value));
      loop.stop();
    };
    Spawned running = spawn<T>(loop, std::move(task), std::move(done));
    if (!result && !store.halted()) loop.run();
    return result;
  }
  template <typename T>
  T wait(Task<T> task) {
    std::optional<T> result = try_wait(std::move(task));
    BELAY_ASSERT(result.has_value());
    return std::move(*result);
  }

  DailyAuditorAgent auditor() { return daily_auditor_agent(parts(), options).value(); }
  RoutineGeneratorAgent generator() { return routine_generator_agent(parts(), options).value(); }

  Result<GraphExecutionResult<Audit>> audit(std::string date, GraphConfig config = {});
  Result<GraphExecutionResult<Audit>> decide_audit(std::string thread, bool approved);
  Result<GraphExecutionResult<RoutineState>> plan(std::string date, GraphConfig config = {});
  Result<GraphExecutionResult<RoutineState>> decide_plan(std::string thread, bool approved);

  template <Record R>
  void save(const R& record) {
    std::vector<RecordWrite> writes{record_write(record, UserId("local")).value()};
    wait(runtime->save(default_tenant(), std::move(writes))).value();
  }
  void add_note(std::string date, std::string content, std::string id = "");
  template <Record R>
  std::optional<R> saved(std::string key) {
    auto records = runtime->records(default_tenant(), UserId("local"));
    return wait(records->template get<R>(std::move(key))).value();
  }

  // Returns the checkpoints of a thread's latest run, oldest first.
  std::vector<CheckpointRow> history(const std::string& thread);
  std::vector<RunRow> runs(const std::string& thread);
  // Returns the nodes whose completion was committed, in order.
  std::vector<std::string> nodes(const std::string& thread);

  // Returns the violations that check_store() finds; empty if all rules hold.
  std::string violations();

  // Returns a context for calling a node function directly.
  std::unique_ptr<Context> context(std::string_view node, RunOptions run = {});

  SimulatedClock clock;
  SeededRandom random;
  SimulatedLoop loop;
  std::unique_ptr<Store> memory;
  HaltingStore store;
  ScriptedModel model;
  WellbeingOptions options;
  RunSettings defaults;  // of the next runtime
  std::vector<ProgressEvent> told;
  std::unique_ptr<Runtime> runtime;
  std::unique_ptr<Records> context_records;

 private:
  AgentParts parts();

  Model* other_model_;
  std::size_t notes_ = 0;
};

// Returns the state after an update.
template <typename State>
State applied(State state, Update<State> update) {
  for (ChannelWrite& change : std::move(update).take_update().changes) {
    change.operand->apply(&state).value();
  }
  return state;
}

}  // namespace belay::wellbeing::testing
