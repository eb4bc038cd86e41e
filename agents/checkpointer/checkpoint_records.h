#pragma once
// agents/checkpointer/checkpoint_records.h - the records of the LangGraph checkpointer.
//
// Bytes of clients are opaque: base64 text, and the name of their format. Keys are hashes of the
// names, which can be longer than a record's key and contain any printable text.

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "belay/clock.h"
#include "belay/collection.h"

namespace belay::checkpointer {

// Returns the key of a record that these names identify.
std::string key_of(const std::vector<std::string>& names);

// Bytes of a client: in `data`, or in the parts 0 to `parts` - 1 of `blob`.
struct TypedValue {
  std::string type{};  // the serializer's name of the format
  std::string data{};  // base64
  std::string blob{};  // the id of the parts; empty: none
  std::int64_t parts = 0;
};

// The version of a channel, as a text, and the checkpoint with which its value was stored: two
// branches of a thread can have different values at one version.
struct ChannelVersion {
  std::string channel{};
  std::string version{};
  std::optional<std::string> checkpointId{};  // unset: no value was stored
};

struct StoredCheckpoint {
  static constexpr std::string_view collection = "langgraph_checkpoints";

  std::string threadId{}, checkpointNs{}, checkpointId{};
  std::optional<std::string> parentCheckpointId{};
  std::int64_t format = 4;  // the member `v` of the checkpoint
  TypedValue checkpoint{};  // without the values of its channels
  TypedValue metadata{};
  Value search = Value::Object();  // the metadata as plain JSON, for filters
  std::vector<ChannelVersion> channels{};
  std::string threadKey{}, spaceKey{}, runKey{};  // of thread; thread and namespace; run

  std::string key() const { return key_of({threadId, checkpointNs, checkpointId}); }
  static auto indexed() { return std::tuple{&StoredCheckpoint::runKey}; }
  static auto ordered() {
    using C = StoredCheckpoint;
    return std::tuple{ordered_index("space", &C::spaceKey, &C::checkpointId),
                      ordered_index("thread", &C::threadKey, &C::checkpointId),
                      ordered_index("id", &C::checkpointId)};
  }
};

// The value of a channel at a version. Never changes once it is stored.
struct StoredBlob {
  static constexpr std::string_view collection = "langgraph_blobs";

  std::string threadId{}, checkpointNs{}, channel{}, version{}, checkpointId{};
  bool isEmpty = false;  // the channel has no value at this version
  // If not empty, the bytes are the first `head` bytes of the channel's value at this version and
  // checkpoint, those of `value`, and its last `tail` bytes.
  std::string base{}, baseCheckpointId{};
  std::int64_t head = 0, tail = 0;
  std::int64_t depth = 0;  // number of bases below it
  TypedValue value{};
  std::string threadKey{};

  std::string key() const {
    return key_of({threadId, checkpointNs, channel, version, checkpointId});
  }
  std::string base_key() const {
    return key_of({threadId, checkpointNs, channel, base, baseCheckpointId});
  }
  static auto indexed() { return std::tuple{&StoredBlob::threadKey}; }
};

// A write of a task that the next checkpoint will contain.
struct StoredWrite {
  static constexpr std::string_view collection = "langgraph_writes";

  std::string threadId{}, checkpointNs{}, checkpointId{}, taskId{};
  std::int64_t idx = 0;  // negative: of a special channel
  std::string taskPath{};
  std::string channel{};
  TypedValue value{};
  std::string threadKey{}, checkpointKey{};

  std::string key() const {
    return key_of({threadId, checkpointNs, checkpointId, taskId, std::to_string(idx)});
  }
  static auto indexed() { return std::tuple{&StoredWrite::checkpointKey, &StoredWrite::threadKey}; }
};

// A part of a value that is too large for one record or one request.
struct StoredPart {
  static constexpr std::string_view collection = "langgraph_parts";

  std::string threadId{}, blob{};
  std::int64_t part = 0;
  std::string data{};  // base64
  Instant createdAt{};
  std::string threadKey{};

  std::string key() const { return key_of({threadId, blob, std::to_string(part)}); }
  static auto indexed() { return std::tuple{&StoredPart::threadKey}; }
};

// Returns the key of a channel's value in a checkpoint.
std::string blob_key(const StoredCheckpoint& checkpoint, const ChannelVersion& at);

// Set the keys of a record from its names.
void set_keys(StoredCheckpoint& checkpoint);
void set_keys(StoredBlob& blob);
void set_keys(StoredWrite& write);
void set_keys(StoredPart& part);

}  // namespace belay::checkpointer
