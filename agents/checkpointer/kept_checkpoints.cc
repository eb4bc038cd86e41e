#include "agents/checkpointer/kept_checkpoints.h"

namespace belay::checkpointer {
namespace {

bool has_value(const StoredCheckpoint& checkpoint, const std::string& channel,
               const ThreadBlobs& blobs) {
  for (const ChannelVersion& at : checkpoint.channels) {
    if (at.channel != channel) continue;
    auto blob = blobs.find(blob_key(checkpoint, at));
    return blob != blobs.end() && !blob->second.isEmpty;
  }
  return false;
}

// Adds the ancestors that the delta channel needs; those that are kept already count as visited.
void keep_ancestors(const std::string& key, const std::string& channel,
                    const ThreadCheckpoints& checkpoints, const ThreadBlobs& blobs,
                    std::set<std::string>& kept) {
  std::set<std::string> visited;
  auto step = checkpoints.find(key);
  while (step != checkpoints.end() && visited.insert(step->first).second) {
    const StoredCheckpoint& checkpoint = step->second;
    kept.insert(step->first);
    if (has_value(checkpoint, channel, blobs) || !checkpoint.parentCheckpointId) return;
    step = checkpoints.find(
        key_of({checkpoint.threadId, checkpoint.checkpointNs, *checkpoint.parentCheckpointId}));
  }
}

}  // namespace

std::set<std::string> newest_checkpoints(const ThreadCheckpoints& checkpoints,
                                         const ThreadBlobs& blobs) {
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
      keep_ancestors(key, channel, checkpoints, blobs, kept);
    }
  }
  return kept;
}

std::set<std::string> values_of(const ThreadCheckpoints& checkpoints,
                                const std::set<std::string>& kept, const ThreadBlobs& blobs) {
  std::set<std::string> values;
  for (const std::string& key : kept) {
    auto checkpoint = checkpoints.find(key);
    if (checkpoint == checkpoints.end()) continue;
    for (const ChannelVersion& at : checkpoint->second.channels) {
      auto blob = blobs.find(blob_key(checkpoint->second, at));
      while (blob != blobs.end() && values.insert(blob->first).second) {
        if (blob->second.base.empty()) break;
        blob = blobs.find(blob->second.base_key());
      }
    }
  }
  return values;
}

}  // namespace belay::checkpointer
