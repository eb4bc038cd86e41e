#pragma once
// agents/checkpointer/saved_checkpoints.h - writes checkpoints, pending writes and parts of large
// values. All records of one call are saved by one commit. Every call can be repeated.

#include "agents/checkpointer/checkpoint_rules.h"
#include "belay/service.h"

namespace belay::checkpointer {

// The checkpoints of one user. The service, the principal and the clock must outlive it.
struct CheckpointAccess {
  Service& service;
  const Principal& who;
  UserId owner;
  Clock& clock;
};

// The bodies of the requests.
struct NewBlob {
  std::string channel{};
  std::string version{};
  std::optional<bool> isEmpty{};
  std::optional<std::string> base{}, baseCheckpointId{};
  std::optional<std::int64_t> head{}, tail{};
  TypedValue value{};
};
struct PutBody {
  std::string threadId{}, checkpointNs{}, checkpointId{};
  std::optional<std::string> parentCheckpointId{};
  std::optional<std::int64_t> format{};
  TypedValue checkpoint{};
  TypedValue metadata{};
  Value search = Value::Object();
  std::vector<ChannelVersion> channels{};  // without checkpoints
  std::vector<NewBlob> blobs{};
};
struct NewWrite {
  std::string channel{};
  TypedValue value{};
};
struct WritesBody {
  std::string threadId{}, checkpointNs{}, checkpointId{}, taskId{};
  std::optional<std::string> taskPath{};
  std::vector<NewWrite> writes{};
};
struct PartBody {
  std::string threadId{}, blob{};
  std::int64_t part = 0;
  std::string data{};
};
struct PartName {
  std::string threadId{}, blob{};
  std::int64_t part = 0;
};

// Saves a checkpoint, or replaces it, with the values of its changed channels; a stored value of a
// channel's version is kept. `conflict` if the base of a value does not exist or has too many
// bases, or if the parent of a checkpoint with unchanged channels does not exist: the caller then
// sends all values, and each as a whole. `not_found` if a part does not exist. `unavailable`, with
// a retry_after, while checkpoints of the thread are being removed.
Task<Result<Done>> put_checkpoint(CheckpointAccess at, PutBody body);
// Saves the writes of a task. A stored write is kept, except that of a special channel.
Task<Result<Done>> put_writes(CheckpointAccess at, WritesBody body);
Task<Result<Done>> put_part(CheckpointAccess at, PartBody body, Instant now);
// Returns the base64 text of a part; `not_found`.
Task<Result<std::string>> read_part(CheckpointAccess at, PartName name);

}  // namespace belay::checkpointer
