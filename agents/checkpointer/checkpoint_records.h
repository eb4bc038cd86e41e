#pragma once
// agents/checkpointer/checkpoint_records.h - the records of the LangGraph checkpointer.
//
// Bytes of clients are opaque: text or base64, and the name of their format. Keys are hashes of the
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

// Bytes of a client: in `text`, in `data`, or in the parts 0 to `parts` - 1 of `blob`.
struct TypedValue {
  std::string type{};  // the serializer's name of the format
  std::string data{};  // base64
  std::string blob{};  // the id of the parts; empty: none
  std::int64_t parts = 0;
  std::optional<std::string> text{};  // the bytes are its UTF-8
};
inline std::size_t stored_bytes(const TypedValue& value) {
  return value.data.size() + (value.text ? value.text->size() : 0);
}

// The version of a channel, as a text, and the checkpoint with which its value was stored: two
// branches of a thread can have different values at one version.
struct ChannelVersion {
  std::string channel{};
  std::string version{};
  std::optional<std::string> checkpointId{};  // unset: the channel has no value
  std::optional<std::int64_t> depth{};        // of the value; unset: 0
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
struct ChannelBlob {
  std::string channel{}, version{};
  // If not empty, the bytes are the first `head` bytes of the channel's value at this version and
  // checkpoint, those of `value`, and its last `tail` bytes.
  std::string base{}, baseCheckpointId{};
  std::int64_t head = 0, tail = 0;
  std::int64_t depth = 0;  // number of bases below it
  TypedValue value{};
};

// The values that were sent with a checkpoint.
struct StoredValues {
  static constexpr std::string_view collection = "langgraph_values";

  std::string threadId{}, checkpointNs{}, checkpointId{};
  std::vector<ChannelBlob> values{};
  std::string threadKey{};

  std::string key() const { return key_of({threadId, checkpointNs, checkpointId}); }
  static auto indexed() { return std::tuple{&StoredValues::threadKey}; }
};

// A write of a task that the next checkpoint will contain.
struct PendingWrite {
  std::int64_t idx = 0;  // negative: of a special channel
  std::string channel{};
  TypedValue value{};
};

// The writes of a task to regular channels, or its write to one special channel.
struct StoredWrites {
  static constexpr std::string_view collection = "langgraph_writes";

  std::string threadId{}, checkpointNs{}, checkpointId{}, taskId{};
  std::int64_t group = 0;  // negative: the index of the special channel
  std::string taskPath{};
  std::vector<PendingWrite> writes{};
  std::string threadKey{}, checkpointKey{};

  std::string key() const {
    return key_of({threadId, checkpointNs, checkpointId, taskId, std::to_string(group)});
  }
  static auto indexed() {
    return std::tuple{&StoredWrites::checkpointKey, &StoredWrites::threadKey};
  }
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

// Where a value is: the key of its record, and its channel and version there.
struct ValuePlace {
  std::string record{}, channel{}, version{};
  friend auto operator<=>(const ValuePlace&, const ValuePlace&) = default;
};
// Returns the place of a channel's value in a checkpoint.
ValuePlace value_place(const StoredCheckpoint& checkpoint, const ChannelVersion& at);
// Returns the place of the base of a value in this record.
ValuePlace base_place(const StoredValues& record, const ChannelBlob& blob);
// Returns the value of a channel at a version; null if the record has none.
const ChannelBlob* find_value(const StoredValues& record, const std::string& channel,
                              const std::string& version);

// Set the keys of a record from its names.
void set_keys(StoredCheckpoint& checkpoint);
void set_keys(StoredValues& values);
void set_keys(StoredWrites& writes);
void set_keys(StoredPart& part);

}  // namespace belay::checkpointer
