#pragma once
// belay/check.h - checks the rules that every store must satisfy, even after crashes.
//
// Tests, simulations, crash campaigns and `belay check` apply them to any store. The ten properties
// are those of the agents' specification (docs/how-belay-is-tested.md lists them); the invariants
// are the engine's own.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "belay/graph.h"
#include "belay/store.h"

namespace belay {

struct Violation {
  std::string rule;     // "I2", "P5", ...
  std::string subject;  // the thread, run or approval, as text
  std::string message;  // one sentence that describes the fault
};

struct CheckReport {
  std::vector<Violation> violations;
  std::size_t runs = 0;
  std::size_t checkpoints = 0;
  std::size_t approvals = 0;
  std::size_t records = 0;  // of the scope's collections
  // Number of runs, by graph name, that were checked without their graph, because the scope has no
  // graph of that name or only another version than the one that the run started with. The rules
  // whose sentences contain "with its graph" were not applied to them.
  std::map<std::string, std::size_t> runs_without_graph;
};

// The input of a check in addition to the store.
struct CheckScope {
  TenantId tenant = default_tenant();
  // The graphs of the store's runs.
  std::vector<std::shared_ptr<const GraphDefinition>> graphs;
  // Commits that were acknowledged to the caller, for I1: run and seq.
  std::vector<std::pair<RunId, std::uint64_t>> acknowledged;
  // Effects that the caller has observed as done, as they were then, for I4.
  std::vector<EffectRow> done_effects;
  // The collections whose records are read, for I4: a store cannot list its collections.
  std::vector<std::string> collections;
  // The limits that all commits that made a run running have observed, for I12.
  ConcurrencyLimits concurrency = {};
};

struct CheckRule {
  std::string_view id;
  std::string_view sentence;
};
// Returns all rules, in the order in which they are checked.
const std::vector<CheckRule>& check_rules();

// Reads the whole tenant, one run at a time, and checks every rule; other processes can continue to
// write. Reports at most ten violations per rule and run; the last one contains the number of
// omitted violations. Returns an Error only if the store could not be read.
Task<Result<CheckReport>> check_store(Store& store, CheckScope scope);

}  // namespace belay
