#pragma once
// driver/graph_registry.h - the graphs that a program has, by name and version.

#include <map>
#include <string>
#include <vector>

#include "belay/graph.h"

namespace belay {

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
  // The version that new runs begin with.
  Result<Definition> newest(const std::string& name) const;
  // The version to go on with for a run of that version: the same, or the newest if upgrades lead
  // to it, its own or through those of versions between, or if it accepts older versions. `invalid`
  // when there is no such path.
  Result<Definition> for_version(const std::string& name, const Digest& version) const;

 private:
  std::map<std::string, std::vector<Definition>> graphs_;  // oldest first
};

}  // namespace belay
