#pragma once
// belay/check.h - the rules that every store must obey whatever happened to its processes, as code.
//
// Any test, simulator or kill campaign - and `belay check` - runs them over any store. The ten
// properties are those of the agents' specification (docs/how-belay-is-tested.md lists them), the
// invariants are the engine's own.

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
  std::string message;  // one sentence: what is wrong there
};

struct CheckReport {
  std::vector<Violation> violations;
  std::size_t runs = 0;
  std::size_t checkpoints = 0;
  std::size_t approvals = 0;
  std::size_t records = 0;  // of the scope's collections
  // How many runs, by the name of their graph, were checked without their graph, because the scope
  // has none of that name, or another version of it than the run began with. The rules that say
  // "with its graph" did not look at them.
  std::map<std::string, std::size_t> runs_without_graph;
};

// What a checker needs to know beside the store.
struct CheckScope {
  TenantId tenant = default_tenant();
  // The graphs whose runs are in the store, by name: what their nodes and edges are.
  std::vector<std::shared_ptr<const GraphDefinition>> graphs;
  // Commits that a caller knows to have been acknowledged, for I1: run and seq.
  std::vector<std::pair<RunId, std::uint64_t>> acknowledged;
  // Effects that a caller knows to have been done, as they were then, for I4.
  std::vector<EffectRow> done_effects;
  // The collections whose records are looked at, for I4: a store can't list them.
  std::vector<std::string> collections;
  // What every commit that has a run go on has kept to, for I12.
  ConcurrencyLimits concurrency = {};
};

struct CheckRule {
  std::string_view id;
  std::string_view sentence;
};
// All rules, in the order in which they are run.
const std::vector<CheckRule>& check_rules();

// Reads the whole tenant, one run at a time, and checks every rule; other processes may go on
// working. At most ten violations a rule and run, the last of which says how many more there were.
// An Error only when the store can't be read.
Task<Result<CheckReport>> check_store(Store& store, CheckScope scope);

}  // namespace belay
