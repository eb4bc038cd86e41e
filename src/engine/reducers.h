#pragma once
// engine/reducers.h - combines the channel writes of a superstep's tasks with the state.

#include <vector>

#include "engine/run.h"

namespace belay::engine {

// One value that a commit writes, or that is stored already as a pending write.
struct StepValue {
  ChannelVersion* channel = nullptr;
  WriteOp kind = WriteOp::set;
  std::int64_t index = 0;  // see ValueRow
  std::string text;
  bool is_stored = false;  // as a pending write
};

// Returns an operand for `channel` that was read from its stored value. `text`: the stored text of
// a pending write, whose bytes the chain hash covers; empty for a value that is not stored yet.
std::shared_ptr<Operand> stored_operand(const ChannelType& channel, WriteOp kind, Value value,
                                        std::string text = {});

// Combines the channel writes of all tasks, in the order of the tasks, with the state. Consumes the
// writes. `invalid` if two tasks write a channel in ways that cannot be combined, a reducer throws,
// or a value cannot be written as JSON or is too large; the state is then unusable.
Result<std::vector<StepValue>> combine(const GraphDefinition& graph, Run& run);

// Returns a row for a value that the frame of a run writes, with this seq of the frame: a value of
// the thread's state for a later run of a thread, else one of the run.
ValueRow value_row(const Run& run, std::uint64_t seq);

// Returns the pending writes of one completed task as rows. Does not change the task.
Result<std::vector<ValueRow>> pending_values(const GraphDefinition& graph, const Run& run,
                                             const NodeTask& task);

// Returns the JSON text of a channel's current value.
Result<std::string> channel_text(const GraphDefinition& graph, const Run& run,
                                 const ChannelVersion& channel);

// Records the value as the newest version of the channel.
void add_version(ChannelVersion& channel, std::uint64_t seq, WriteOp kind, std::string_view text);

// Returns the state for modification. Copies it first if a node might still read it.
void* owned_state(const GraphDefinition& graph, Run& run);

bool is_transient(const GraphDefinition& graph, std::size_t channel);
// Returns the channel of this name; adds an unwritten one, unknown to the state type, if there is
// no such channel. `channels` is sorted by name.
ChannelVersion& channel_named(std::vector<ChannelVersion>& channels, const std::string& name);
// Null if the graph's state type has no such channel.
ChannelVersion* version_of(Run& run, std::size_t channel);

}  // namespace belay::engine
