#include "agents/checkpointer/checkpoint_records.h"

namespace belay::checkpointer {

std::string key_of(const std::vector<std::string>& names) {
  std::string seed = "langgraph";
  for (const std::string& name : names) seed += ' ' + std::to_string(name.size()) + ':' + name;
  return derived_uuid(seed).text();
}

ValuePlace value_place(const StoredCheckpoint& checkpoint, const ChannelVersion& at) {
  return {key_of({checkpoint.threadId, checkpoint.checkpointNs, at.checkpointId.value_or("")}),
          at.channel, at.version};
}

ValuePlace base_place(const StoredValues& record, const ChannelBlob& blob) {
  return {key_of({record.threadId, record.checkpointNs, blob.baseCheckpointId}), blob.channel,
          blob.base};
}

const ChannelBlob* find_value(const StoredValues& record, const std::string& channel,
                              const std::string& version) {
  for (const ChannelBlob& blob : record.values) {
    if (blob.channel == channel && blob.version == version) return &blob;
  }
  return nullptr;
}

void set_keys(StoredCheckpoint& checkpoint) {
  checkpoint.threadKey = key_of({checkpoint.threadId});
  checkpoint.spaceKey = key_of({checkpoint.threadId, checkpoint.checkpointNs});
  const std::string* run = checkpoint.search["run_id"].as_string();
  checkpoint.runKey = run ? key_of({*run}) : std::string();
}

void set_keys(StoredValues& values) { values.threadKey = key_of({values.threadId}); }

void set_keys(StoredWrites& writes) {
  writes.threadKey = key_of({writes.threadId});
  writes.checkpointKey = key_of({writes.threadId, writes.checkpointNs, writes.checkpointId});
}

void set_keys(StoredPart& part) { part.threadKey = key_of({part.threadId}); }

}  // namespace belay::checkpointer
