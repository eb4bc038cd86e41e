#pragma once
// load/rehearsal.h - rehearses an upgrade: which runs of a store would continue with these graphs.
//
// Each run that has not ended is restored as it would be to continue it, including the upgrade of
// its state, and nothing is written.
//
// Threading: upgrades are called on the executor that awaits.

#include <string>
#include <vector>

#include "belay/store.h"
#include "load/graph_registry.h"

namespace belay {

enum class UpgradeVerdict {
  continues,   // with the same version, or because the graph accepts older ones
  migrates,    // its state is converted by upgrade_from()
  refused,     // its graph refuses the change of its materials: the run waits
  needs_hook,  // an upgrade_from() that converts its state is missing, or fails
  stranded,    // no upgrade helps: a node that it continues with, or its graph, is gone
};
std::string_view name_of(UpgradeVerdict verdict);

struct RehearsedRun {
  RunRow row;           // without its input
  std::string version;  // of its state, in hex
  UpgradeVerdict verdict = UpgradeVerdict::continues;
  std::string node = {};     // the cause; empty: no node
  std::string channel = {};  // likewise
  std::string reason = {};   // empty if the run continues or migrates
};

// Returns the runs of all tenants that have not ended, oldest first in each tenant.
Task<Result<std::vector<RehearsedRun>>> rehearse_upgrade(
    Store& store, std::vector<GraphRegistry::Definition> graphs);

// The first differences between two structures (graph/structure.h), as in "The node \"audit\" was
// added."; with the first changed node and the first changed channel.
struct StructureChange {
  std::string node = {}, channel = {};
  std::string text = {};  // empty: they are equal
};
StructureChange change_between(const std::vector<std::string>& before,
                               const std::vector<std::string>& after);

}  // namespace belay
