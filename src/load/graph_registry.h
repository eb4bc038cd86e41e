#pragma once
// load/graph_registry.h - the registered graphs of a program, by name and version.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "belay/graph.h"

namespace belay {

enum class Continuation { same_version, upgrade, accepted };

class GraphRegistry {
 public:
  using Definition = std::shared_ptr<const GraphDefinition>;

  void add(Definition graph);

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, versions] : graphs_) names.push_back(name);
    return names;
  }
  bool knows(const std::string& name) const { return graphs_.contains(name); }
  // Returns the version that new runs start with: the one that was added last.
  Result<Definition> newest(const std::string& name) const;
  // Returns the graph that continues a run of `version`: the same version, which former programs
  // named by another hash, or else the newest one, if a chain of upgrades over registered versions
  // leads to it, or if it accepts older versions. `invalid` if neither is the case.
  Result<Definition> for_version(const std::string& name, const Digest& version) const;
  // The versions, in hex, for which it returns a graph; "*": all.
  std::set<std::string> continued_versions(const std::string& name) const;
  // Whether a version of the graph has rules for changed materials.
  bool has_material_rules(const std::string& name) const;
  // How it does that. `version`: of the run; `graph`: the result of for_version().
  static Continuation continuation(const GraphDefinition& graph, const Digest& version);

 private:
  std::map<std::string, std::vector<Definition>> graphs_;  // oldest first
  std::map<std::string, std::vector<Definition>> former_;  // the same: see former_edition()
};

}  // namespace belay
