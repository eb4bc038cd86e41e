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
// One node that asks in its middle.
Graph<Plan> question_graph();

class Scenarios {
 public:
  Scenarios();

  // Every scenario below, each on the thread of its name.
  void play_all();

  void completed();           // without asking
  void approved();            // after asking
  void edited();              // approved with another draft
  void rejected();            //
  void expired();             //
  void late();                // decided too late
  void paused();              // still waits
  void passed();              // asked nobody, as its options say
  void failed();              // of an error that no retry mends
  void exhausted();           // after three attempts
  void retried();             // well at the third attempt
  void retried_by_another();  // the process died while it waited for the next attempt
  void resumed();             // the process died while a node worked
  void cancelled();           // while it waited for a person
  void stopped();             // cancelled while a node worked
  void timed_out();           //
  void validated_again();     // the first two drafts were bad
  void asked_in_a_node();     // twice

  CheckScope scope() const;

  testing::SimulatedClock clock{*instant_from("2026-11-21T12:00:00Z")};
  testing::SeededRandom random{11};
  testing::SimulatedLoop loop{clock};
  testing::ScriptedModel model;
  std::unique_ptr<Store> store = open_memory_store(clock, random);
  Graph<Plan> plans = plan_graph();
  Graph<Plan> questions = question_graph();
  std::unique_ptr<Runtime> runtime;

 private:
  void open();
  Result<RunView> begin(std::string thread, std::string topic, RunOptions options = {});
  Result<DecisionAnswer> decide(const RunView& view, bool approve,
                                std::optional<Value> edited = std::nullopt);
  // Starts a run, lets it work for a second, and loses the process.
  void begin_and_die(std::string thread, std::string topic);
  void resume(std::string thread);
};

// What check_store() finds there.
CheckReport checked(testing::SimulatedLoop& loop, Store& store, CheckScope scope);

}  // namespace belay::check
