#pragma once
// agents/checkpointer/thread_content.h - reads all records of a thread, and the checkpoints of a
// run.

#include <cstddef>
#include <map>
#include <string>

#include "agents/checkpointer/checkpoint_access.h"
#include "agents/checkpointer/kept_checkpoints.h"

namespace belay::checkpointer {

// The records of a thread by key.
struct ThreadContent {
  ThreadCheckpoints checkpoints;
  ThreadValues values;
  std::map<std::string, StoredWrites> writes;
  std::map<std::string, StoredPart> parts;
};

// Returns the number of bytes of the values.
std::size_t data_bytes(const StoredValues& record);

// Reads a thread. With `bytes`, keeps the data of its records and adds their number there;
// `exhausted` if there is too much for one commit. Without, the records have no data.
Task<Result<ThreadContent>> read_thread(CheckpointAccess at, std::string thread,
                                        std::size_t* bytes);
// Reads the checkpoints whose metadata have this id as `run_id`, without their data.
Task<Result<ThreadCheckpoints>> read_run(CheckpointAccess at, std::string run);

}  // namespace belay::checkpointer
