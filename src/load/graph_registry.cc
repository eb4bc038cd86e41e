#include "load/graph_registry.h"

#include <algorithm>
#include <set>

#include "graph/structure.h"

namespace belay {
namespace {

using Definition = GraphRegistry::Definition;

// Checks that the state between two upgrades of a chain is valid for the graph version in between.
Result<Done> check_fits(const GraphDefinition& graph, const Value& state) {
  std::string what = "The result of the upgrade to version " + to_hex(graph.hash).substr(0, 12);
  if (!state.as_object()) {
    return error(ErrorCode::invalid, what + " is of kind " + std::string(state.kind()) +
                                         ", expected an object of channels.");
  }
  std::shared_ptr<void> tried = graph.state->make();
  for (const ChannelType& channel : graph.state->channels) {
    const Value* found = state.find(channel.name);
    Decoder in;
    in.path.push_back(channel.name);
    Unknown unknown;
    if (found && !channel.decode(*found, tried.get(), in, &unknown)) {
      return error(ErrorCode::invalid, what + " does not fit the version: " + in.problem);
    }
  }
  return Done{};
}

// Returns the upgrade from a version to `graph`, under its hash or that of former programs; null
// if it has none.
const GraphDefinition::Upgrade* upgrade_between(const GraphDefinition& from,
                                                const GraphDefinition& graph) {
  for (const Digest& hash : {from.hash, from.former_hash}) {
    auto found = graph.upgrades.find(to_hex(hash));
    if (found != graph.upgrades.end()) return &found->second;
  }
  return nullptr;
}

// Converts a state of version `from` to the last version of the path. Copies the values in between:
// if they are moved, GCC 12 reports them as uninitialized at -O2.
Result<Value> upgraded(const std::vector<Definition>& path, const std::string& from,
                       const Value& state) {
  Result<Value> came_to = state;
  const GraphDefinition::Upgrade* step = &path.front()->upgrades.at(from);
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i > 0) step = upgrade_between(*path[i - 1], *path[i]);
    came_to = (*step)(*came_to);
    if (!came_to.ok()) break;
    // The caller of the upgrade checks the last state.
    if (i + 1 < path.size()) BELAY_CHECK(check_fits(*path[i], *came_to));
  }
  return came_to;
}

// Returns the last version of the path with an additional upgrade from `from`, which applies the
// upgrades of the whole path.
Definition upgraded_through(std::vector<Definition> path, const std::string& from) {
  auto last = std::make_shared<GraphDefinition>(*path.back());
  last->upgrades[from] = [path = std::move(path), from](const Value& state) {
    return upgraded(path, from, state);
  };
  return last;
}

// Returns the shortest path of upgrades from the version to the newest one; empty: no path exists.
std::vector<Definition> path_from(const std::string& from,
                                  const std::vector<Definition>& versions) {
  std::vector<std::vector<Definition>> paths = {{versions.back()}};
  std::set<Definition> seen = {versions.back()};
  for (std::size_t i = 0; i < paths.size(); ++i) {
    std::vector<Definition> path = paths[i];
    if (path.front()->upgrades.contains(from)) return path;
    for (const Definition& each : versions) {
      if (!upgrade_between(*each, *path.front()) || !seen.insert(each).second) continue;
      paths.push_back(path);
      paths.back().insert(paths.back().begin(), each);
    }
  }
  return {};
}

}  // namespace

void GraphRegistry::add(Definition graph) {
  // A version that differs only in its policies replaces the one before. Runs of former programs
  // continue with both, because their hash names the policies.
  std::vector<Definition>& former = former_[graph->name];
  std::erase_if(former, [&](const Definition& each) { return each->hash == graph->former_hash; });
  former.push_back(former_edition(*graph));
  std::vector<Definition>& versions = graphs_[graph->name];
  std::erase_if(versions, [&](const Definition& each) { return each->hash == graph->hash; });
  versions.push_back(std::move(graph));
}

Result<GraphRegistry::Definition> GraphRegistry::newest(const std::string& name) const {
  auto found = graphs_.find(name);
  if (found != graphs_.end()) return found->second.back();
  return error(ErrorCode::not_found,
               "Unknown graph \"" + name + "\". Use the program that started the thread.");
}

Result<GraphRegistry::Definition> GraphRegistry::for_version(const std::string& name,
                                                             const Digest& version) const {
  BELAY_TRY(Definition latest, newest(name));
  for (const auto* editions : {&graphs_.at(name), &former_.at(name)}) {
    for (const Definition& each : *editions) {
      if (each->hash == version) return each;
    }
  }
  std::string hash = to_hex(version);
  if (latest->upgrades.contains(hash)) return latest;
  auto path = path_from(hash, graphs_.at(name));
  if (!path.empty()) return upgraded_through(std::move(path), hash);
  if (latest->accepts_older_versions) return latest;
  return error(ErrorCode::invalid,
               "Graph \"" + name + "\" version " + to_hex(latest->hash).substr(0, 12) +
                   " cannot continue a run of version " + hash.substr(0, 12) +
                   ". Use the program that started it, register that version too, or declare "
                   "upgrade_from(\"" +
                   hash + "\", ...) in this version or in a registered version between them.");
}

bool GraphRegistry::has_material_rules(const std::string& name) const {
  if (!knows(name)) return false;
  const auto& editions = graphs_.at(name);
  return std::any_of(editions.begin(), editions.end(),
                     [](const Definition& each) { return !each->material_rules.empty(); });
}

std::set<std::string> GraphRegistry::continued_versions(const std::string& name) const {
  std::set<std::string> versions;
  if (!knows(name)) return versions;
  if (graphs_.at(name).back()->accepts_older_versions) return {"*"};
  for (const auto* editions : {&graphs_.at(name), &former_.at(name)}) {
    for (const Definition& each : *editions) {
      versions.insert(to_hex(each->hash));
      for (const auto& [from, upgrade] : each->upgrades) {
        if (!path_from(from, graphs_.at(name)).empty()) versions.insert(from);
      }
    }
  }
  return versions;
}

Continuation GraphRegistry::continuation(const GraphDefinition& graph, const Digest& version) {
  if (graph.hash == version) return Continuation::same_version;
  return graph.upgrades.contains(to_hex(version)) ? Continuation::upgrade : Continuation::accepted;
}

}  // namespace belay
