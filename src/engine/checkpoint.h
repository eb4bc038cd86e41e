#pragma once
// engine/checkpoint.h - makes the commit that ends a step.
//
// The chain hash of a checkpoint is the SHA-256 over, in this order:
//
//   the parent's chain hash; for a first checkpoint, the SHA-256 of the input's JSON text, or of
//   the namespace in a subgraph seq and epoch, 8 bytes each, little-endian, like all numbers here
//   state_seq, only if it differs from seq
//   next_tasks: length (8 bytes) and text
//   each channel that was ever written, sorted by name: length (8 bytes) and text of its name, the
//   seq that wrote it (8 bytes; 0 for a value of an earlier run of the thread), and its hash
//   (ChannelVersion in run.h)

#include <string>

#include "engine/event.h"
#include "engine/reducers.h"

namespace belay::engine {

// The contents of a step's commit, in addition to the run and the checkpoint.
struct Step {
  CommitKind kind = CommitKind::node;
  std::string node;              // comma-separated nodes that this step ends, or that fail or wait
  std::vector<std::size_t> set;  // channels whose current value is written; can contain duplicates
  std::vector<StepValue> values;
  NodeEffects effects;
  Value detail;  // for the step's own event
  // A commit within a superstep: the stored state and the scheduled tasks do not change.
  bool is_midway = false;
};

// Adds the values of the channels in `step.set` after those of the tasks. `invalid` if one cannot
// be written as JSON or is too large; the step then contains only some of these values.
Result<Done> add_set_values(const GraphDefinition& graph, Run& run, Step& step);

// Ends a step whose values are complete: raises the run's seq, adds the rows of the values and of
// the checkpoint, and returns the commit, guarded by `guard_epoch` (the epoch before this step) and
// the previous seq. Changes the run to the state that the commit stores. For the frame of a
// subgraph, the commit has no guard and its checkpoint is in CommitRows::inner_checkpoints.
Commit end_step(Run& run, Step step, const Moment& moment, std::uint64_t guard_epoch);

// Quarantines a run whose stored data cannot be read. The checkpoint repeats `newest`, with its
// chain hash: a new one cannot be computed from unreadable data, and no run continues from such a
// commit. Uses only the row of the run.
Commit quarantine_step(Run& run, CheckpointRow newest, std::string reason, const Moment& moment);

// Converts a record write to the row of a commit.
RecordPut record_put(RecordWrite record);

// Computes the chain hash. Of `checkpoint`, uses seq, state_seq, epoch and next_tasks.
Digest chain_hash(const Digest& parent, const CheckpointRow& checkpoint,
                  const std::vector<ChannelVersion>& channels);

// Returns the channels of a state type, none of them written, sorted by name.
std::vector<ChannelVersion> unwritten_channels(const StateType& type);

// A channel whose value in an input differs from the default, with the JSON text of that value.
struct GivenChannel {
  const ChannelType* channel = nullptr;
  Encoder held;  // has a problem if JSON cannot represent the value
};
std::vector<GivenChannel> given_channels(const StateType& type, const void* state);

// Returns the JSON text of an input: an object of the channels that differ from their defaults.
Result<std::string> input_text(const StateType& type, const void* state);

}  // namespace belay::engine
