#include "driver/graph_registry.h"

#include <algorithm>

namespace belay {

void GraphRegistry::add(Definition graph) {
  std::vector<Definition>& versions = graphs_[graph->name];
  std::erase_if(versions, [&](const Definition& each) { return each->hash == graph->hash; });
  versions.push_back(std::move(graph));
}

Result<GraphRegistry::Definition> GraphRegistry::newest(const std::string& name) const {
  auto found = graphs_.find(name);
  if (found != graphs_.end()) return found->second.back();
  return error(ErrorCode::not_found, "This program has no graph called \"" + name +
                                         "\"; run the one that began the thread.");
}

Result<GraphRegistry::Definition> GraphRegistry::for_version(const std::string& name,
                                                             const Digest& version) const {
  BELAY_TRY(Definition latest, newest(name));
  for (const Definition& each : graphs_.at(name)) {
    if (each->hash == version) return each;
  }
  std::string hash = to_hex(version);
  if (latest->accepts_older_versions || latest->upgrades.contains(hash)) return latest;
  return error(ErrorCode::invalid,
               "The run is of version " + hash.substr(0, 12) + " of the graph \"" + name +
                   "\", and this program has version " + to_hex(latest->hash).substr(0, 12) +
                   " without a way from there; run the program that began it, add its graph beside "
                   "the new one, or declare upgrade_from(\"" +
                   hash + "\", ...).");
}

}  // namespace belay
