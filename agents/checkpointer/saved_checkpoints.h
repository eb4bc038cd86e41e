#pragma once
// agents/checkpointer/saved_checkpoints.h - writes checkpoints and the pending writes of tasks. All
// records of one call are saved by one commit. Every call can be repeated.

#include "agents/checkpointer/checkpoint_access.h"
#include "agents/checkpointer/checkpoint_rules.h"

namespace belay::checkpointer {

// The bodies of the requests.
struct NewBlob {
  std::string channel{};
  std::string version{};
  std::optional<bool> isEmpty{};
  std::optional<std::string> base{}, baseCheckpointId{};
  std::optional<std::int64_t> head{}, tail{};
  TypedValue value{};
};
struct NewWrite {
  std::string channel{};
  TypedValue value{};
};
// The writes of a task, of the thread and namespace of the checkpoint that they are saved with.
struct TaskWrites {
  std::string checkpointId{}, taskId{};
  std::optional<std::string> taskPath{};
  std::vector<NewWrite> writes{};
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
  std::vector<TaskWrites> tasks{};  // each task once, at most kTasksOfPutMax
};
struct WritesBody {
  std::string threadId{}, checkpointNs{}, checkpointId{}, taskId{};
  std::optional<std::string> taskPath{};
  std::vector<NewWrite> writes{};
};

// Saves a checkpoint, or replaces it, with the values of its changed channels, and the writes of
// tasks as put_writes() does; a stored value of a channel's version is kept. A channel without a
// blob is unchanged: the stored parent has it with this version. A blob with `isEmpty` sends a
// channel without a value. `conflict` if a channel has neither a blob nor this version in the
// parent, or if the base of a value does not exist or has too many bases: the caller then sends all
// channels, and each value as a whole. `not_found` if a part does not exist. `unavailable`, with a
// retry_after, while checkpoints of the thread are being removed, or others are copied into it.
Task<Result<Done>> put_checkpoint(CheckpointAccess at, PutBody body);
// Saves the writes of a task. A stored write is kept, except that of a special channel.
Task<Result<Done>> put_writes(CheckpointAccess at, WritesBody body);

}  // namespace belay::checkpointer
