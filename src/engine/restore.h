#pragma once
// engine/restore.h - a run from its stored rows, as it stood after one of its commits.

#include <vector>

#include "engine/run.h"

namespace belay::engine {

struct StoredRun {
  RunRow row;
  CheckpointRow checkpoint;
  Digest parent_chain_hash{};    // of the checkpoint before; unused for the first
  std::vector<ValueRow> values;  // the newest of each channel as of the checkpoint
};

// `corrupt` when the bytes can't be read or the chain hash does not fit them; `invalid` when this
// graph can't carry the run on (its next node is gone, or a channel has become another type).
Result<Run> restore(const GraphDefinition& graph, StoredRun stored);

// A run that is not stored yet: its row's ids, session and options are the caller's, the state is
// `input`. `invalid` when the input can't be written as JSON.
Result<Run> new_run(const GraphDefinition& graph, RunRow row, RunOptions options,
                    std::shared_ptr<void> input);

// The channels by name, as a program reads them, those that the graph does not know included.
Value state_value(const GraphDefinition& graph, const StoredRun& stored, const Run& run);

std::string options_text(const RunOptions& options);
Result<RunOptions> options_from(std::string_view text);

}  // namespace belay::engine
