#pragma once
// agents/checkpointer/value_parts.h - the parts of values that are too large for one record or one
// request. A caller saves all parts of a value before the record that refers to them.

#include "agents/checkpointer/checkpoint_access.h"
#include "agents/checkpointer/checkpoint_records.h"

namespace belay::checkpointer {

// The bodies of the requests.
struct PartBody {
  std::string threadId{}, blob{};
  std::int64_t part = 0;
  std::string data{};
};
struct PartName {
  std::string threadId{}, blob{};
  std::int64_t part = 0;
};

Task<Result<Done>> put_part(CheckpointAccess at, PartBody body, Instant now);
// Returns the base64 text of a part; `not_found`.
Task<Result<std::string>> read_part(CheckpointAccess at, PartName name);
// Fails with `not_found` if a part of the value was not saved. The value must outlive the task.
Task<Result<Done>> check_parts_of(CheckpointAccess at, std::string thread, const TypedValue& value);

}  // namespace belay::checkpointer
