#pragma once
// belay/testing.h - a world under a test's control: time that moves only when nothing else can,
// randomness from a seed, a model that says what it is told to, processes that die where you say.
//
//     auto world = testing::World{}.model(testing::says("Dear all, ..."));
//     auto calm = world.run(mail_graph(), Mail{"the outage"}).approve_all();
//     for (auto crash : calm.crash_points()) {
//       auto rough = world.run(mail_graph(), Mail{"the outage"}).crash_at(crash).approve_all();
//       EXPECT_EQ(rough.state(), calm.state());
//       EXPECT_EQ(rough.effects("smtp"), 1);
//     }
//
// It needs no test framework, and works with any. docs/testing.md has more.

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "belay/detail/played_run.h"

namespace belay::testing {

class SimulatedClock final : public Clock {
 public:
  explicit SimulatedClock(Instant now) : now_(now) {}
  Instant now() override { return now_; }
  void move(std::chrono::microseconds by) { now_ += by; }

 private:
  Instant now_;
};

// The same seed gives the same bits for good (SplitMix64).
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() override;

 private:
  std::uint64_t state_;
};

// A loop on one thread and a simulated clock: when nothing is posted, time jumps to the next timer.
// Blocking calls run in line. Not thread-safe: everything must happen on the thread of run().
class SimulatedLoop final : public EventLoop {
 public:
  explicit SimulatedLoop(SimulatedClock& clock) : clock_(clock) {}

  void post(Work work) override;
  TimerId call_after(std::chrono::microseconds delay, Work work) override;
  void cancel(TimerId timer) override;
  bool offload(Work work) override;
  // Until stop(), or until nothing is posted and no timer is left.
  void run() override;
  void stop() override { stopped_ = true; }
  // The same, but time does not pass `until`; it stands there at the end.
  void run_until(Instant until);
  // One piece of work; false when there was none that may run now.
  bool step();

 private:
  bool advance_to_next_timer(Instant until);

  SimulatedClock& clock_;
  std::deque<Work> posted_;
  std::map<std::pair<Instant, TimerId>, Work> timers_;
  TimerId next_timer_ = 1;
  bool stopped_ = false;
};

// Answers from a script, in order, each answer once: a text, an error, or what a function makes of
// the request. Keeps what it was asked.
class ScriptedModel final : public Model {
 public:
  using Answer = std::function<Result<std::string>(const ModelRequest&)>;

  ScriptedModel& replies(std::string text);
  ScriptedModel& fails(Error error);
  ScriptedModel& replies_with(Answer answer);
  // What to do when the script is at its end; without either: `unavailable`.
  ScriptedModel& then_always(Answer answer);
  // Gives the last answer of the script again and again.
  ScriptedModel& repeat_last();
  // How long each answer takes, on the executor's timers.
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

// Models for a World: answers in order, and the last one again and again: says("a").says("b"),
// fails(busy).says("a"). A crash gives back the answers that lost work had taken. Where nodes ask
// side by side, or a crash may change the order, let the answer depend on the request: answers().
ScriptedModel replies(std::string text);
ScriptedModel fails(Error error);
ScriptedModel replies_with(ScriptedModel::Answer answer);

CrashPoint before_commit(int number);
CrashPoint after_commit(int number);  // its answer is lost

// A state as a run has come to it. It is the State, and can be compared and printed besides,
// whatever the State itself can do.
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
// What a world is to play.
struct WorldPlan {
  enum class Others { approve, reject, expire, leave };

  std::shared_ptr<const GraphDefinition> graph;
  std::optional<Error> fault;  // of the graph, where it could not be built
  std::shared_ptr<const void> input;
  ScriptedModel script = replies_with([](const ModelRequest&) -> Result<std::string> {
    return error(ErrorCode::invalid, "This world has no model; give it one: World{}.model(says())");
  });
  std::shared_ptr<Model> model;  // in place of the script
  std::uint64_t seed = 1;
  Instant start_time = *instant_from("2026-01-01T09:00:00Z");
  std::string sqlite_folder;
  std::vector<RecordWrite> records;
  StartOptions start;
  std::vector<CrashPoint> crashes;
  std::vector<std::pair<std::string, Decision>> decisions;  // by the node that asks
  Others others = Others::approve;
};
RunTrace play(const WorldPlan& plan);
}  // namespace detail

// How a run went, over all of its processes.
template <GraphState State>
class ScenarioResult {
 public:
  explicit ScenarioResult(detail::RunTrace run) : run_(std::move(run)), state_(State{}) {
    if (run_.view.state.is_null()) return;
    auto state = decode_json<State>(run_.view.state);
    if (state.ok()) state_ = ObservedState<State>(*std::move(state));
  }

  // As it is in the end.
  const ObservedState<State>& state() const { return state_; }
  RunStatus status() const { return run_.view.row.status; }
  const std::string& outcome() const { return run_.view.row.outcome; }
  // Why there is something wrong: the graph could not be built, a rule of belay/check.h does not
  // hold in the store, or the run has failed. Nothing where all is well.
  const std::optional<Error>& error() const { return run_.error; }
  bool ok() const { return !run_.error; }

  // The nodes whose end was committed, in order; a superstep of several has them all.
  const std::vector<std::string>& path() const { return run_.path; }
  // How often a node was begun: retries and repetitions after a crash included.
  int attempts(const std::string& node) const {
    auto found = run_.attempts.find(node);
    return found == run_.attempts.end() ? 0 : found->second;
  }
  // How often the effect happened, as the world outside saw it. A keyed one (once()) that was
  // called again with its key counts once: its receiver knows it. Calls that failed don't count.
  int effects(std::string_view name) const { return run_.effects_of(name); }
  // How often its function was really called.
  int calls(std::string_view name) const { return run_.calls_of(name); }

  const std::vector<NodeEffects::Message>& messages() const { return run_.messages; }
  const std::vector<ApprovalRow>& approvals() const { return run_.approvals; }  // oldest first
  const std::vector<CheckpointRow>& commits() const { return run_.commits; }    // oldest first
  const std::vector<EventRow>& events() const { return run_.events; }           // the durable ones
  const std::vector<ModelRequest>& model_requests() const { return run_.requests; }
  // The user's records of this type in the end, by key.
  template <Record R>
  std::vector<R> records() const {
    std::vector<R> found;
    for (const RecordRow& row : run_.records) {
      if (row.collection != R::collection) continue;
      if (auto record = record_from<R>(row); record.ok()) found.push_back(*std::move(record));
    }
    return found;
  }

  // What the checkers found wrong in the store in the end; error() tells the first of them.
  const std::vector<Violation>& violations() const { return run_.violations; }
  // How many processes died.
  int crashes() const { return run_.crashes; }
  // Wherever its last process could have died: before and after each commit, and while nodes run,
  // after each call of an effect or of the model, and wherever they wait.
  std::vector<CrashPoint> crash_points() const { return run_.moments; }

 private:
  detail::RunTrace run_;
  ObservedState<State> state_;
};

// A run to be played until it rests: it has ended, or waits for a person and nobody comes.
template <GraphState State>
class Scenario {
 public:
  explicit Scenario(detail::WorldPlan plan) : plan_(std::move(plan)) {}

  // The process dies there, and another goes on with the run. Said again: that one dies too, and
  // its commits are counted from its own beginning.
  Scenario& crash_at(CrashPoint crash) {
    plan_.crashes.push_back(std::move(crash));
    return *this;
  }
  // The decision on what this node asks; said again: on what it asks the next time.
  Scenario& decide(std::string node, Decision decision) {
    plan_.decisions.emplace_back(std::move(node), std::move(decision));
    return *this;
  }
  Scenario& options(RunOptions options) {
    plan_.start.run = options;
    return *this;
  }

  // Plays it. What decide() does not answer is approved, rejected, not answered in time, or left
  // open. Whether an uncertain effect has happened is answered with the truth by the first two.
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

// What stands around a run: each is played in a fresh world like it, on a simulated clock, with a
// store in memory. The same world plays the same run the same way, ids and times included.
class World {
 public:
  // Each play begins with the script as it is here.
  World& model(ScriptedModel script) { return plan_.script = std::move(script), *this; }
  // One of your own, in all plays.
  World& model(std::shared_ptr<Model> model) { return plan_.model = std::move(model), *this; }
  World& seed(std::uint64_t seed) { return plan_.seed = seed, *this; }
  World& start_time(Instant now) { return plan_.start_time = now, *this; }
  // Whose runs, and records from here on.
  World& user(UserId user) { return plan_.start.user = std::move(user), *this; }
  // Each play leaves a SQLite file of its own in this folder, which must exist.
  World& sqlite_in(std::string folder) { return plan_.sqlite_folder = std::move(folder), *this; }
  // A record of the user's that is there from the beginning.
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
  // A graph that could not be built is the error of what is played.
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
