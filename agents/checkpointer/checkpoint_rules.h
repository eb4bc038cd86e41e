#pragma once
// agents/checkpointer/checkpoint_rules.h - the rules of LangGraph's checkpointer contract that need
// no store: indexes and order of writes, filters of metadata, names and base64 texts.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agents/checkpointer/checkpoint_records.h"

namespace belay::checkpointer {

// Returns the index of a write: its position in the call, or the fixed negative one of a special
// channel, of which a task has one write.
std::int64_t write_index(std::string_view channel, std::int64_t position);
// True if a later write with the same index replaces the stored one.
inline bool replaces_stored(std::int64_t idx) { return idx < 0; }

// The channel of pending sends.
inline constexpr std::string_view kSendsChannel = "__pregel_tasks";
// Checkpoints of an older format have the sends of their parent as a channel.
inline constexpr std::int64_t kFormatWithSends = 4;

// A write with its task.
struct TaskWrite {
  std::string taskPath{}, taskId{};
  std::int64_t idx = 0;
  std::string channel{};
  TypedValue value{};
};
// Sorts writes by task path, task and index. Texts are compared by code points.
void sort_writes(std::vector<TaskWrite>& writes);

// True if `value` contains `wanted`: an object contains the members of `wanted`, an array an equal
// or containing element for each of its elements, any other value is equal.
bool contains(const Value& value, const Value& wanted);
// True if the metadata has every member of `filter`, which is an object or null.
bool matches_filter(const Value& metadata, const Value& filter);

// Returns whether the text is padded base64 (RFC 4648, section 4).
bool is_base64(std::string_view text);
// Returns an upper bound of the number of bytes that the text decodes to.
inline std::size_t base64_bytes(std::string_view text) { return text.size() / 4 * 3; }

inline constexpr std::size_t kNameBytesMax = 4'000;        // of namespaces, channels, task paths
inline constexpr std::size_t kThreadBytesMax = 1'000;      // of thread ids
inline constexpr std::size_t kCheckpointIdBytesMax = 200;  // an index is ordered by it
inline constexpr std::int64_t kPartsMax = 1'024;           // of one value
inline constexpr std::size_t kTasksOfPutMax = 64;          // whose writes are saved with one put
inline constexpr std::int64_t kBaseDepthMax = 32;          // of a value that is based on others

// Checks a name's length. `least` is 0 or 1.
Result<Done> check_text(std::string_view what, std::string_view text, std::size_t least,
                        std::size_t most);
Result<Done> check_value(std::string_view what, const TypedValue& value);

}  // namespace belay::checkpointer
