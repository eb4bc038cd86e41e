#pragma once
// engine/checkpoint.h - makes the commit that ends a step.
//
// The chain hash of a checkpoint is SHA-256 over, in this order: the parent's chain hash (for the
// first: SHA-256 of the input's JSON text), seq and epoch as 8 bytes little-endian, the length (8
// bytes) and text of next_tasks, and for each channel ever written, sorted by name: the length (8
// bytes) and text of its name, the seq that wrote it (8 bytes), SHA-256 of its JSON text.

#include <string>

#include "engine/event.h"

namespace belay::engine {

// A step in the making: what will be in its commit beside run, checkpoint and values.
struct Step {
  CommitKind kind = CommitKind::node;
  std::string node;                  // the node that this step ends, or that failed or waits
  std::vector<std::size_t> changed;  // channels by index; twice does no harm
  std::vector<RecordWrite> records;
  std::vector<NodeEffects::CustomEvent> events;
  Value detail;  // goes into the step's own event
};

// The state, to be changed: copied first if a node may still look at it.
void* owned_state(const GraphDefinition& graph, Run& run);

// Ends a step: raises the run's seq, writes the changed channels' texts, chains the checkpoint, and
// returns the commit, guarded by the epoch and seq that the run had before. The run is afterwards
// as the commit says. `guard_epoch` is the epoch before this step. `invalid` when a changed channel
// can't be written as JSON or is too large; the run is then as it was.
Result<Commit> end_step(const GraphDefinition& graph, Run& run, Step step, const Moment& moment,
                        std::uint64_t guard_epoch);

// A record as a commit carries it.
RecordPut record_put(RecordWrite record);

// The chain hash that a checkpoint of these contents has.
Digest chain_hash(const Digest& parent, std::uint64_t seq, std::uint64_t epoch,
                  std::string_view next_tasks, const std::vector<ChannelVersion>& channels);

// The channels of a state type that has none written yet, sorted by name.
std::vector<ChannelVersion> unwritten_channels(const StateType& type);

// The JSON text of the input: an object of the channels that differ from the struct's defaults.
Result<std::string> input_text(const StateType& type, const void* state);

}  // namespace belay::engine
