#pragma once
// belay/testing.h - simulated worlds for tests of agents.
//
// A world has a clock that advances only when no work is posted, seeded randomness, a scripted
// model, and processes that crash at chosen points. Any test framework works: docs/testing.md.
//
//     auto world = testing::World{}.model(testing::replies("Dear all, ..."));
//     auto baseline = world.run(mail_graph(), Mail{"the outage"}).approve_all();
//     for (auto crash : baseline.crash_points()) {
//       auto crashed = world.run(mail_graph(), Mail{"the outage"}).crash_at(crash).approve_all();
//       EXPECT_EQ(crashed.state(), baseline.state());
//       EXPECT_EQ(crashed.effects("smtp"), 1);
//     }

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "belay/detail/played_run.h"
#include "belay/detail/scripted_answer.h"

namespace belay::testing {

class SimulatedClock final : public Clock {
 public:
  explicit SimulatedClock(Instant now) : now_(now) {}
  Instant now() override { return now_; }
  void move(std::chrono::microseconds by) { now_ += by; }

 private:
  Instant now_;
};

// The same seed always yields the same bits (SplitMix64).
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() override;

 private:
  std::uint64_t state_;
};

// A loop on one thread with a simulated clock: when no work is posted, time advances to the next
// timer. Blocking calls run inline. Not thread-safe: use it only on the thread of run().
class SimulatedLoop final : public EventLoop {
 public:
  explicit SimulatedLoop(SimulatedClock& clock) : clock_(clock) {}

  void post(Work work) override;
  TimerId call_after(std::chrono::microseconds delay, Work work) override;
  void cancel(TimerId timer) override;
  bool offload(Work work) override;
  // Runs until stop(), or until no work is posted and no timer is left.
  void run() override;
  void stop() override { stopped_ = true; }
  // The same, but only up to `until`, and then sets the clock to it.
  void run_until(Instant until);
  // Runs one piece of work; returns false if none can run now.
  bool step();

 private:
  bool advance_to_next_timer(Instant until);

  SimulatedClock& clock_;
  std::deque<Work> posted_;
  std::map<std::pair<Instant, TimerId>, Work> timers_;
  TimerId next_timer_ = 1;
  bool stopped_ = false;
};

// Returns the replies of a script, in order, each once: a text, tool calls, an error, or the result
// of a function of the request, which returns a text or a ModelReply. Records the requests.
class ScriptedModel final : public Model {
 public:
  using Answer = detail::ScriptedAnswer;

  ScriptedModel& replies(std::string text);
  // A call without an id gets "call_1", "call_2", ...: the next number of the conversation.
  ScriptedModel& calls(std::vector<ToolCall> tool_calls, std::string text = {});
  ScriptedModel& fails(Error error);
  ScriptedModel& replies_with(Answer answer);
  // Used after the end of the script. Without it and repeat_last(): `unavailable`.
  ScriptedModel& then_always(Answer answer);
  // Repeats the last reply of the script.
  ScriptedModel& repeat_last();
  // Sets the duration of each call, on the executor's timers.
  ScriptedModel& takes(std::chrono::milliseconds time);

  Task<Result<ModelReply>> generate(ModelRequest request) override;

  const std::vector<ModelRequest>& requests() const { return requests_; }

 private:
  std::deque<Answer> script_;
  Answer always_;
  bool keeps_last_ = false;
  std::chrono::milliseconds time_{0};
  std::vector<ModelRequest> requests_;
};

// Models for a World. The first three repeat the last reply: replies("a").replies("b"). A crash
// returns the replies of lost work to the script. If nodes call the model in parallel, or a
// crash can change the order of calls, use replies_with(): its replies depend on the request only.
ScriptedModel replies(std::string text);
ScriptedModel calls(std::vector<ToolCall> tool_calls);
ScriptedModel fails(Error error);
ScriptedModel replies_with(ScriptedModel::Answer answer);

CrashPoint before_commit(int number);
CrashPoint after_commit(int number);  // before the process receives the outcome

// The final state of a run. Can be compared and printed, even if State itself cannot.
template <GraphState State>
class ObservedState : public State {
 public:
  explicit ObservedState(State state) : State(std::move(state)), seen_text_(text_of(*this)) {}

  friend bool operator==(const ObservedState& one, const ObservedState& other) {
    return one.seen_text_ == other.seen_text_;
  }
  friend bool operator==(const ObservedState& one, const State& other) {
    return one.seen_text_ == text_of(other);
  }
  friend std::ostream& operator<<(std::ostream& out, const ObservedState& state) {
    return out << state.seen_text_;
  }

 private:
  static std::string text_of(const State& state) { return encode_json(state).value_or(""); }
  std::string seen_text_;
};

namespace detail {
// The configuration of a world and its scenario.
struct WorldPlan {
  enum class Others { approve, reject, expire, leave };
  std::shared_ptr<const GraphDefinition> graph;
  std::optional<Error> fault;  // of the graph, an input or a record
  std::shared_ptr<const void> input;
  ScriptedModel script = replies_with([](const ModelRequest&) -> Result<std::string> {
    return error(ErrorCode::invalid, "This world has no model. Add one: World{}.model(replies())");
  });
  std::shared_ptr<Model> model;  // used instead of the script
  std::shared_ptr<HttpAccess> http;
  std::uint64_t seed = 1;
  Instant start_time = *instant_from("2026-01-01T09:00:00Z");
  std::string sqlite_folder;
  std::vector<RecordWrite> records;
  StartOptions start;
  std::vector<CrashPoint> crashes;
  std::vector<std::pair<std::string, Decision>> decisions;  // by the node of the approval
  Others others = Others::approve;
};
RunTrace play(const WorldPlan& plan);
}  // namespace detail

// The result of a scenario, over all of its processes.
template <GraphState State>
class ScenarioResult {
 public:
  explicit ScenarioResult(detail::RunTrace run) : run_(std::move(run)), state_(State{}) {
    if (run_.view.state.is_null()) return;
    auto state = decode_json<State>(run_.view.state);
    if (state.ok()) state_ = ObservedState<State>(*std::move(state));
  }

  const ObservedState<State>& state() const { return state_; }
  RunStatus status() const { return run_.view.row.status; }
  const std::string& outcome() const { return run_.view.row.outcome; }
  // Set if the graph could not be built, the run failed, or the store violates a rule of
  // belay/check.h.
  const std::optional<Error>& error() const { return run_.error; }
  bool ok() const { return !run_.error; }

  // The nodes whose end was committed, in order; for each superstep, all of its nodes.
  const std::vector<std::string>& path() const { return run_.path; }
  // The number of starts of a node, including retries and executions after a crash.
  int attempts(const std::string& node) const {
    auto found = run_.attempts.find(node);
    return found == run_.attempts.end() ? 0 : found->second;
  }
  // The number of times that the effect happened at its receiver. Repeated calls of a keyed effect
  // count once: its receiver deduplicates them. Failed calls are not counted.
  int effects(std::string_view name) const { return run_.effects_of(name); }
  int calls(std::string_view name) const { return run_.calls_of(name); }  // of its function

  const std::vector<NodeEffects::Message>& messages() const { return run_.messages; }
  const std::vector<ApprovalRow>& approvals() const { return run_.approvals; }  // oldest first
  const std::vector<CheckpointRow>& commits() const { return run_.commits; }    // oldest first
  const std::vector<EventRow>& events() const { return run_.events; }           // durable events
  const std::vector<ModelRequest>& model_requests() const { return run_.requests; }
  // The user's records of this type at the end, by key.
  template <Record R>
  std::vector<R> records() const {
    std::vector<R> found;
    for (const RecordRow& row : run_.records) {
      if (row.collection != R::collection) continue;
      if (auto record = record_from<R>(row); record.ok()) found.push_back(*std::move(record));
    }
    return found;
  }

  // Violations in the final store; error() reports the first of them.
  const std::vector<Violation>& violations() const { return run_.violations; }
  int crashes() const { return run_.crashes; }
  // All points at which the last process could have crashed: before and after each commit and, in
  // running nodes, after each call of an effect or of the model, and at each wait.
  std::vector<CrashPoint> crash_points() const { return run_.moments; }

 private:
  detail::RunTrace run_;
  ObservedState<State> state_;
};

// One run in a world, executed until it has ended or waits for a decision that does not come.
template <GraphState State>
class Scenario {
 public:
  explicit Scenario(detail::WorldPlan plan) : plan_(std::move(plan)) {}

  // Ends the process at this point; another process continues the run. A second call ends that
  // process, and so on; each process counts its own commits.
  Scenario& crash_at(CrashPoint crash) {
    plan_.crashes.push_back(std::move(crash));
    return *this;
  }
  // The decision on the approval of this node; a second call is for its second approval.
  Scenario& decide(std::string node, Decision decision) {
    plan_.decisions.emplace_back(std::move(node), std::move(decision));
    return *this;
  }
  Scenario& options(RunOptions options) {
    plan_.start.run = options;
    return *this;
  }

  // Execute the scenario. Approvals without a decide() are approved, rejected, expired or left
  // open. The first two decide on an uncertain effect by the calls that really happened.
  ScenarioResult<State> approve_all() const { return play(detail::WorldPlan::Others::approve); }
  ScenarioResult<State> reject_all() const { return play(detail::WorldPlan::Others::reject); }
  ScenarioResult<State> let_expire() const { return play(detail::WorldPlan::Others::expire); }
  ScenarioResult<State> leave_open() const { return play(detail::WorldPlan::Others::leave); }

 private:
  ScenarioResult<State> play(detail::WorldPlan::Others others) const {
    detail::WorldPlan plan = plan_;
    plan.others = others;
    return ScenarioResult<State>(detail::play(plan));
  }

  detail::WorldPlan plan_;
};

// The simulated environment of scenarios; each has its own copy, with a store in memory. The same
// world and scenario yield the same result, ids and times included.
class World {
 public:
  // Each scenario starts with this script; a custom model is shared by all scenarios.
  World& model(ScriptedModel script) { return plan_.script = std::move(script), *this; }
  World& model(std::shared_ptr<Model> model) { return plan_.model = std::move(model), *this; }
  // Answers the HTTP requests of nodes; without it, they fail: a scenario sends nothing.
  World& http(std::shared_ptr<HttpAccess> http) { return plan_.http = std::move(http), *this; }
  World& seed(std::uint64_t seed) { return plan_.seed = seed, *this; }
  World& start_time(Instant now) { return plan_.start_time = now, *this; }
  // The user of the runs, and of records that are added after this call.
  World& user(UserId user) { return plan_.start.user = std::move(user), *this; }
  // Each scenario writes its own SQLite file into this folder, which must exist.
  World& sqlite_in(std::string folder) { return plan_.sqlite_folder = std::move(folder), *this; }
  // Adds a record of the user to the initial store.
  template <Record R>
  World& record(const R& record) {
    auto write = record_write(record, plan_.start.user);
    if (write.ok()) return plan_.records.push_back(*std::move(write)), *this;
    if (!plan_.fault) plan_.fault = std::move(write).error();
    return *this;
  }

  template <typename State>
  Scenario<State> run(const Graph<State>& graph, std::type_identity_t<State> input) const {
    detail::WorldPlan plan = plan_;
    plan.graph = graph.definition();
    plan.input = detail::input_of(graph, std::move(input), plan.fault);
    return Scenario<State>(std::move(plan));
  }
  // If the graph could not be built, its error is the error of the result.
  template <typename State>
  Scenario<State> run(const Result<Graph<State>>& graph, std::type_identity_t<State> input) const {
    if (graph.ok()) return run(*graph, std::move(input));
    detail::WorldPlan plan = plan_;
    plan.fault = graph.error();
    return Scenario<State>(std::move(plan));
  }

 private:
  detail::WorldPlan plan_;
};

}  // namespace belay::testing
