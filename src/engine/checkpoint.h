#pragma once
// engine/checkpoint.h - makes the commit that ends a step.
//
// The chain hash of a checkpoint is SHA-256 over, in this order: the parent's chain hash (for the
// first: SHA-256 of the input's JSON text; of a subgraph's space: of its name), seq and epoch as 8
// bytes little-endian, the state_seq too where it is another than seq, the length (8 bytes) and
// text of next_tasks, and for each channel ever written, sorted by name: the length (8 bytes) and
// text of its name, the seq that wrote it (8 bytes), and its hash (ChannelVersion in run.h).

#include <string>

#include "engine/event.h"
#include "engine/reducers.h"

namespace belay::engine {

// A step in the making: what will be in its commit beside run and checkpoint.
struct Step {
  CommitKind kind = CommitKind::node;
  std::string node;              // the nodes that this step ends, or that failed or waits
  std::vector<std::size_t> set;  // channels to be written as the state has them; twice is no harm
  std::vector<StepValue> values;
  NodeEffects effects;
  Value detail;  // goes into the step's own event
  // In the midst of a superstep of several: the state and the tasks stay as they were chosen.
  bool is_midway = false;
};

// Adds the values of the channels in `step.set`, after those of the tasks. `invalid` when one can't
// be written as JSON or is too large; the step is then as it was, but for some of these values.
Result<Done> add_set_values(const GraphDefinition& graph, Run& run, Step& step);

// Ends a step whose values are complete: raises the run's seq, writes the values, chains the
// checkpoint, and returns the commit, guarded by `guard_epoch` (the epoch before this step) and the
// previous seq. Afterwards the run is as the commit stores it. For an inner run, the commit has no
// guard and its checkpoint is in CommitRows::inner_checkpoints.
Commit end_step(Run& run, Step step, const Moment& moment, std::uint64_t guard_epoch);

// A record as a commit carries it.
RecordPut record_put(RecordWrite record);

// The chain hash that a checkpoint of these contents has. Of it, seq, state_seq, epoch and
// next_tasks count.
Digest chain_hash(const Digest& parent, const CheckpointRow& checkpoint,
                  const std::vector<ChannelVersion>& channels);

// The channels of a state type that has none written yet, sorted by name.
std::vector<ChannelVersion> unwritten_channels(const StateType& type);

// A channel that an input gives another value than the struct's default, and its JSON text.
struct GivenChannel {
  const ChannelType* channel = nullptr;
  Encoder held;  // with the problem, where JSON can't say it
};
std::vector<GivenChannel> given_channels(const StateType& type, const void* state);

// The JSON text of the input: an object of the channels that differ from the struct's defaults.
Result<std::string> input_text(const StateType& type, const void* state);

}  // namespace belay::engine
