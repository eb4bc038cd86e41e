#pragma once
// agents/checkpointer/read_checkpoints.h - reads checkpoints with the values of their channels and
// their pending writes. A reply has about kReplyBytes of data: the rest is on the next page.

#include "agents/checkpointer/saved_checkpoints.h"

namespace belay::checkpointer {

inline constexpr std::size_t kReplyBytes = limits::bounded(4u << 20, 1);
inline constexpr std::int64_t kListMax = 100;  // tuples of one page

// The value of a channel: a whole one, and the values based on it, each on the one before it.
struct ChannelValue {
  std::string channel;
  std::string checkpoint_id;  // with which the last one was stored
  std::vector<ChannelBlob> chain;
};

struct LoadedTuple {
  StoredCheckpoint checkpoint;
  std::vector<ChannelValue> values;  // of channels that have one
  std::vector<TaskWrite> writes;     // in their order
  // Of a checkpoint of an older format with a parent: the sends that are stored on the parent,
  // ordered by task and index.
  std::optional<std::vector<TypedValue>> sends;
};

struct TupleName {
  std::string threadId{};
  std::optional<std::string> checkpointNs{};
  std::optional<std::string> checkpointId{};  // unset: the greatest one
};
// Returns a checkpoint of the thread and namespace; nullopt if it does not exist.
Task<Result<std::optional<StoredCheckpoint>>> find_checkpoint(CheckpointAccess at, TupleName name);
Task<Result<LoadedTuple>> load_tuple(CheckpointAccess at, StoredCheckpoint checkpoint);

struct ListBody {
  std::optional<std::string> threadId{};      // unset: all threads
  std::optional<std::string> checkpointNs{};  // unset: all namespaces; "": the root
  std::optional<std::string> checkpointId{};
  std::optional<std::string> before{};  // only smaller ids
  Value filter{};                       // an object, or null
  std::optional<std::int64_t> limit{};  // 1 to kListMax
  std::optional<std::string> after{};   // `next` of the previous page
};
struct ListPage {
  std::vector<LoadedTuple> tuples;  // the greatest id first
  std::string next;                 // empty: there are no more
};
Task<Result<ListPage>> list_checkpoints(CheckpointAccess at, ListBody body);

struct HistoryBody {
  std::string threadId{};
  std::optional<std::string> checkpointNs{};
  std::optional<std::string> checkpointId{};  // unset: the greatest one
  std::vector<std::string> channels{};
  std::optional<std::string> from{};  // `next` of the previous page
};
struct HistoryPage {
  std::vector<TaskWrite> writes;    // of the channels, the last one first
  std::vector<ChannelValue> seeds;  // by channel: the value of its nearest ancestor with one
  std::string next;                 // the ancestor that the next page begins with; empty: none
};
// Walks the ancestors of a checkpoint, from its parent on. A channel ends at the first ancestor
// with a value; the writes on that ancestor are included.
Task<Result<HistoryPage>> delta_history(CheckpointAccess at, HistoryBody body);

}  // namespace belay::checkpointer
