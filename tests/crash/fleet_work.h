#pragma once
// tests/crash/fleet_work.h - the runs of a fleet: their program, receivers and expected results

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "belay/value.h"

namespace belay::crash {

// A receiver of calls: a file in which each call is a line, "thread key".
struct FleetReceiver {
  std::string name;
  std::size_t keys = 1;         // of each run
  bool may_repeat = false;      // the class of the effect permits further calls with a key
  bool may_be_missing = false;  // it permits fewer calls
};

struct FleetWork {
  std::string binary;
  std::map<std::string, std::string> environment = {};
  std::vector<FleetReceiver> receivers = {};
  std::set<std::string> repeated_nodes = {};  // that can end more than once in a run
  // Returns the input of a run, as in `enqueue --input`.
  std::function<std::string(const std::string& thread)> input = nullptr;
  // Returns the words after "belay" for the decision of a person who first checks the receivers.
  std::function<std::vector<std::string>(const Value& approval, const std::string& folder)>
      decision_on = nullptr;
  // Returns whether a run, in the form of `belay state`, has its expected outcome.
  std::function<bool(const std::string& thread, const Value& run)> is_well = nullptr;
  // Returns the faults of all receivers together; null: not checked.
  std::function<std::vector<std::string>(const std::string& folder)> faults_in = nullptr;
  // Returns the texts of the steering messages that a run has used, in order. Null: none are sent.
  std::function<std::vector<std::string>(const Value& run)> messages_in = nullptr;
};

// Returns the number of calls of a receiver by key.
std::map<std::string, std::size_t> calls_of(const std::string& folder, const std::string& name);

// A graph with parallel branches, retries, an approval, and effects of every class.
FleetWork parcel_work();
// An agent with tools of every class. `defect` is empty, or names a deliberate error of the
// program: see agent_fleet_program.cc.
FleetWork agent_work(std::string defect = {});
// Goals whose steps call tools of every class and an agent, and use steering messages.
FleetWork goal_work();

}  // namespace belay::crash
