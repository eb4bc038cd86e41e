#pragma once
// check/scenarios.h - runs that came to every end there is, in a simulated world: what a sound
// store holds, for the checkers' tests.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "belay/check.h"
#include "belay/runtime.h"
#include "belay/testing.h"

namespace belay::check {

struct Advice {
  std::vector<std::string> recommendations;
  friend bool operator==(const Advice&, const Advice&) = default;
};

// The members that the agents' specification names, and a few.
struct Plan {
  std::string topic;
  std::optional<Advice> analysisResult = std::nullopt;
  std::string draft;
  int rounds = 0;
  int validationAttempts = 0;
  bool requiresApproval = false;
  bool approved = false;
  std::vector<std::string> notes = {};
};

struct SavedPlan {
  static constexpr std::string_view collection = "plans";
  std::string thread;
  std::string draft;
  std::string key() const { return thread; }
  static auto indexed() { return std::tuple{&SavedPlan::thread}; }
};

// analyze -> write -> validate -> review -> save -> end, validate back to write, review rejected to
// end. "bad" in a draft is invalid; "urgent" in a topic asks.
Graph<Plan> plan_graph();
// plan -> {left, right, look, publish} at once, left -> later, {later, right, look} join in gather,
// which sends two parts; after them comes a pause of an hour. `look` is a subgraph. An approval
// stands before publish when the topic has "ask", and one in the subgraph when it has "inside".
Graph<Plan> wide_graph();
// Stops after its first node.
Graph<Plan> stopping_graph();
// One node that asks in its middle.
Graph<Plan> question_graph();

class Scenarios {
 public:
  Scenarios();

  // Every scenario below, each on the thread of its name.
  void play_all();

  void completed();            // without asking
  void approved();             // after asking
  void edited();               // approved with another draft
  void forked();               // after a decision, with the state of that commit
  void forked_again();         // a fork of such a fork
  void forked_with_edits();    // of such a fork: begins before the decision, asks again
  void rejected();             //
  void expired();              //
  void late();                 // decided too late
  void paused();               // still waits
  void passed();               // asked nobody, as its options say
  void failed();               // of an error that no retry mends
  void exhausted();            // after three attempts
  void retried();              // well at the third attempt
  void retried_by_another();   // the process died while it waited for the next attempt
  void resumed();              // the process died while a node worked
  void cancelled();            // while it waited for a person
  void stopped();              // cancelled while a node worked
  void timed_out();            //
  void validated_again();      // the first two drafts were bad
  void asked_in_a_node();      // twice
  void wide_completed();       // several tasks in a superstep, joins, sends, a subgraph, a timer
  void wide_asked();           // one of several tasks waits for a person
  void wide_approved();        //
  void wide_edited();          //
  void wide_inside();          // a subgraph waits for a person
  void wide_decided_inside();  //
  void wide_retried();         // one of several tasks was tried again
  void lost();                 // the process died in its first node
  void wide_lost();            // the process died while one of several tasks worked
  void wide_resumed();         // and another went on
  void wide_cancelled();       // while one of several tasks waited for a person
  void held();                 // stopped at a breakpoint
  void let_go();               // and went on
  void at_the_end();           // one commit for all
  void wide_at_the_end();      //

  CheckScope scope() const;

  testing::SimulatedClock clock{*instant_from("2026-11-21T12:00:00Z")};
  testing::SeededRandom random{11};
  testing::SimulatedLoop loop{clock};
  testing::ScriptedModel model;
  std::unique_ptr<Store> store = open_memory_store(clock, random);
  Graph<Plan> plans = plan_graph();
  Graph<Plan> questions = question_graph();
  Graph<Plan> wide = wide_graph();
  Graph<Plan> stopping = stopping_graph();
  std::unique_ptr<Runtime> runtime;

 private:
  void open();
  Result<RunView> begin(std::string thread, std::string topic, RunOptions options = {});
  Result<RunView> begin(const Graph<Plan>& graph, std::string thread, std::string topic,
                        RunOptions options = {});
  // Moves the clock past the pause of an hour, and goes on.
  void wake();
  // Starts a run that is approved, and a fork of it that begins after the approval.
  RunView fork_behind(std::string thread);
  Result<DecisionResult> decide(const RunView& view, bool approve,
                                std::optional<Value> edited = std::nullopt);
  // Starts a run, lets it work for a second, and loses the process.
  void begin_and_die(const Graph<Plan>& graph, std::string thread, std::string topic);
  void resume(std::string thread);
};

// What check_store() finds there.
CheckReport checked(testing::SimulatedLoop& loop, Store& store, CheckScope scope);

}  // namespace belay::check
