#include "agents/checkpointer/kept_checkpoints.h"

namespace belay::checkpointer {
namespace {

bool has_value(const StoredCheckpoint& checkpoint, const std::string& channel) {
  for (const ChannelVersion& at : checkpoint.channels) {
    if (at.channel == channel) return at.checkpointId.has_value();
  }
  return false;
}

// Adds the ancestors that the delta channel needs; those that are kept already count as visited.
void keep_ancestors(const std::string& key, const std::string& channel,
                    const ThreadCheckpoints& checkpoints, std::set<std::string>& kept) {
  std::set<std::string> visited;
  auto step = checkpoints.find(key);
  while (step != checkpoints.end() && visited.insert(step->first).second) {
    const StoredCheckpoint& checkpoint = step->second;
    kept.insert(step->first);
    if (has_value(checkpoint, channel) || !checkpoint.parentCheckpointId) return;
    step = checkpoints.find(
        key_of({checkpoint.threadId, checkpoint.checkpointNs, *checkpoint.parentCheckpointId}));
  }
}

}  // namespace

std::set<std::string> newest_checkpoints(const ThreadCheckpoints& checkpoints) {
  std::map<std::string, std::string> newest;  // keys by namespace
  for (const auto& [key, checkpoint] : checkpoints) {
    auto [place, is_first] = newest.emplace(checkpoint.checkpointNs, key);
    if (is_first) continue;
    const StoredCheckpoint& other = checkpoints.at(place->second);
    if (checkpoint.checkpointId > other.checkpointId) place->second = key;
  }
  std::set<std::string> kept;
  for (const auto& [space, key] : newest) {
    kept.insert(key);
    const Value& counters = checkpoints.at(key).search["counters_since_delta_snapshot"];
    if (!counters.as_object()) continue;
    for (const auto& [channel, counter] : *counters.as_object()) {
      keep_ancestors(key, channel, checkpoints, kept);
    }
  }
  return kept;
}

std::set<ValuePlace> values_of(const ThreadCheckpoints& checkpoints,
                               const std::set<std::string>& kept, const ThreadValues& values) {
  std::set<ValuePlace> places;
  for (const std::string& key : kept) {
    auto checkpoint = checkpoints.find(key);
    if (checkpoint == checkpoints.end()) continue;
    for (const ChannelVersion& at : checkpoint->second.channels) {
      if (!at.checkpointId) continue;
      ValuePlace place = value_place(checkpoint->second, at);
      while (places.insert(place).second) {
        auto record = values.find(place.record);
        if (record == values.end()) break;
        const ChannelBlob* blob = find_value(record->second, place.channel, place.version);
        if (!blob || blob->base.empty()) break;
        place = base_place(record->second, *blob);
      }
    }
  }
  return places;
}

}  // namespace belay::checkpointer
