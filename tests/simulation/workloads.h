#pragma once
// tests/simulation/workloads.h - what is run in a simulation: agents whose right end is known.

#include <memory>
#include <string>
#include <vector>

#include "belay/runtime.h"
#include "tests/simulation/external_world.h"

namespace belay::simulation {

struct Workload {
  std::string name;  // of its graph
  // The graph as one process has it: its nodes reach the world outside as that process.
  std::shared_ptr<const GraphDefinition> (*graph)(Outside& outside, ProcessId process);
  // Of the n-th run, as Runtime::start() takes it.
  std::shared_ptr<void> (*input)(std::uint64_t number);
  RunOptions options;
  // What is wrong with how a run has ended that nobody cancelled; empty for nothing.
  std::string (*wrong)(const RunView& view);
};
const std::vector<Workload>& workloads();
// Null for an unknown one.
const Workload* workload_of(std::string_view name);

// What the receivers may be asked to do, by the name of the effect.
struct OutsideReceiver {
  std::string name;
  bool may_repeat;  // with one key: its class or policy allows it
};
const std::vector<OutsideReceiver>& receivers();

// What the agents save.
inline constexpr const char* kLabels = "labels";

}  // namespace belay::simulation
