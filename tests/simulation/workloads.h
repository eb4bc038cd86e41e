#pragma once
// tests/simulation/workloads.h - the agents of a simulation, whose correct results are known.

#include <memory>
#include <string>
#include <vector>

#include "belay/runtime.h"
#include "tests/simulation/external_world.h"

namespace belay::simulation {

struct Workload {
  std::string name;  // of its graph
  // Builds the graph for one process: its nodes access the world outside in the name of that
  // process.
  std::shared_ptr<const GraphDefinition> (*graph)(Outside& outside, ProcessId process);
  // Returns the input of the n-th run, as Runtime::start() takes it.
  std::shared_ptr<void> (*input)(std::uint64_t number);
  RunOptions options;
  // Returns the error in the result of a run that was not cancelled; empty if it is correct.
  std::string (*wrong)(const RunView& view);
  std::uint64_t runs_per_thread;  // among so many runs, those of this workload share a thread
  bool only_if_planned = false;   // processes know its graph only if the plan has the workload
};
const std::vector<Workload>& workloads();
// Returns null for an unknown name.
const Workload* workload_of(std::string_view name);

// The receivers of effects, by the name of the effect.
struct OutsideReceiver {
  std::string name;
  bool may_repeat;          // with one key: its class or policy allows that
  bool is_skipped = false;  // if its intent is found: a process that counts as dead repeats nothing
};
const std::vector<OutsideReceiver>& receivers();
// Returns the calls that no class or policy of their effects allows.
std::vector<std::string> faults_of(const std::vector<Outside::Call>& calls);

// The collection in which the agents save records.
inline constexpr const char* kLabels = "labels";

}  // namespace belay::simulation
