#include "agents/checkpointer/checkpoint_records.h"

namespace belay::checkpointer {

std::string key_of(const std::vector<std::string>& names) {
  std::string seed = "langgraph";
  for (const std::string& name : names) seed += ' ' + std::to_string(name.size()) + ':' + name;
  return derived_uuid(seed).text();
}

std::string blob_key(const StoredCheckpoint& checkpoint, const ChannelVersion& at) {
  return key_of({checkpoint.threadId, checkpoint.checkpointNs, at.channel, at.version,
                 at.checkpointId.value_or("")});
}

void set_keys(StoredCheckpoint& checkpoint) {
  checkpoint.threadKey = key_of({checkpoint.threadId});
  checkpoint.spaceKey = key_of({checkpoint.threadId, checkpoint.checkpointNs});
  const std::string* run = checkpoint.search["run_id"].as_string();
  checkpoint.runKey = run ? key_of({*run}) : std::string();
}

void set_keys(StoredBlob& blob) { blob.threadKey = key_of({blob.threadId}); }

void set_keys(StoredWrite& write) {
  write.threadKey = key_of({write.threadId});
  write.checkpointKey = key_of({write.threadId, write.checkpointNs, write.checkpointId});
}

void set_keys(StoredPart& part) { part.threadKey = key_of({part.threadId}); }

}  // namespace belay::checkpointer
