#pragma once
// tests/support/run_scenarios.h - plays runs with every possible end in a simulated world: the
// contents of a sound store, for the tests of the rules.

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

// The members that the agents' specification requires, and some more.
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

// analyze -> write -> validate -> review -> save -> end; validate back to write; review to end if
// rejected. A draft with "bad" is invalid; a topic with "urgent" requires the approval.
Graph<Plan> plan_graph();
// plan -> {left, right, look, publish} in one superstep; left -> later; {later, right, look} join
// in gather, which sends two parts; then a wait of one hour. `look` is a subgraph. A topic with
// "ask" requires an approval before publish, one with "inside" an approval in the subgraph.
Graph<Plan> wide_graph();
// Has a breakpoint after its first node.
Graph<Plan> stopping_graph();
// One node with interrupts.
Graph<Plan> question_graph();

class Scenarios {
 public:
  Scenarios();

  // Plays every scenario below, each on the thread of its name.
  void play_all();

  void completed();            // without an approval
  void approved();             //
  void edited();               // approved with another draft
  void forked();               // after a decision, with the state of that commit
  void forked_again();         // a fork of such a fork
  void forked_with_edits();    // of such a fork: starts before the decision, asks again
  void rejected();             //
  void expired();              //
  void late();                 // decided after the expiry
  void paused();               // waits for a decision
  void passed();               // its options skip the approval
  void failed();               // with an error that is not retried
  void exhausted();            // after three attempts
  void retried();              // successful at the third attempt
  void retried_by_another();   // the process died while it waited for the next attempt
  void resumed();              // the process died while a node was running
  void cancelled();            // while it waited for a decision
  void stopped();              // cancelled while a node was running
  void timed_out();            //
  void validated_again();      // the first two drafts were bad
  void asked_in_a_node();      // twice
  void wide_completed();       // several tasks in a superstep, joins, sends, a subgraph, a timer
  void wide_asked();           // one of several tasks waits for a decision
  void wide_approved();        //
  void wide_edited();          //
  void wide_inside();          // a subgraph waits for a decision
  void wide_decided_inside();  //
  void wide_retried();         // one of several tasks was retried
  void lost();                 // the process died in its first node
  void wide_lost();            // the process died while one of several tasks was running
  void wide_resumed();         // the same, and another process continued
  void wide_cancelled();       // while one of several tasks waited for a decision
  void held();                 // paused at a breakpoint
  void let_go();               // the same, and continued
  void at_the_end();           // one commit for all steps (Durability::exit)
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
  // Advances the clock past the wait of one hour, and continues.
  void wake();
  // Starts a run that is approved, and a fork of it that starts after the approval.
  RunView fork_behind(std::string thread);
  Result<DecisionResult> decide(const RunView& view, bool approve,
                                std::optional<Value> edited = std::nullopt);
  // Starts a run, executes it for a second, and kills the process.
  void begin_and_die(const Graph<Plan>& graph, std::string thread, std::string topic);
  void resume(std::string thread);
};

// Returns the report of check_store().
CheckReport checked(testing::SimulatedLoop& loop, Store& store, CheckScope scope);

}  // namespace belay::check
