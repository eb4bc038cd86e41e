#pragma once
// agents/checkpointer/thread_operations.h - deletes, copies and prunes the checkpoints of whole
// threads and of runs. The changes of one thread are one commit.

#include <cstddef>

#include "agents/checkpointer/saved_checkpoints.h"

namespace belay::checkpointer {

// The numbers of removed records.
struct Removed {
  std::size_t checkpoints = 0;
  std::size_t writes = 0;
  std::size_t values = 0;  // with parts of large ones
};

struct ThreadBody {
  std::string threadId{};
};
struct CopyBody {
  std::string source{}, target{};
};
struct PruneBody {
  std::vector<std::string> threadIds{};
  std::string strategy{};  // "keep_latest" or "delete"
};
struct RunsBody {
  std::vector<std::string> runIds{};
};

// Removes a thread with all of its namespaces. Succeeds for an unknown thread.
Task<Result<Removed>> delete_thread(CheckpointAccess at, ThreadBody body);
// Copies all records of a thread. `conflict` if the target has other records than an earlier copy.
// `exhausted` if they have more than limits::value_bytes_max bytes. No save, and no other copy,
// changes the target meanwhile.
Task<Result<Done>> copy_thread(CheckpointAccess at, CopyBody body);
// Removes all but the newest checkpoint of each namespace and what its delta channels need, or
// everything. Parts that no value has are removed after an hour.
Task<Result<Removed>> prune_threads(CheckpointAccess at, PruneBody body, Instant now);
// Removes the checkpoints whose metadata have one of these ids as `run_id`, with their writes.
Task<Result<Removed>> delete_runs(CheckpointAccess at, RunsBody body);

}  // namespace belay::checkpointer
