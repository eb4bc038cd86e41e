#pragma once
// engine/reducers.h - what the tasks of a superstep did to the channels, as stored and combined.

#include <vector>

#include "engine/run.h"

namespace belay::engine {

// One value that a commit writes, or has written ahead for a finished task.
struct StepValue {
  ChannelVersion* channel = nullptr;
  WriteOp kind = WriteOp::set;
  std::int64_t index = 0;  // see ValueRow
  std::string text;
  bool is_stored = false;  // by a pending write
};

// An operand read back from its text, for the channel at `channel`.
std::shared_ptr<Operand> stored_operand(const ChannelType& channel, WriteOp kind, Value value);

// Combines what all tasks of the superstep did, in their order, with the state, and uses it up.
// `invalid` when two tasks set one channel, a reducer throws, or a value can't be written as JSON
// or is too large; the state is then of no use any more.
Result<std::vector<StepValue>> combine(const GraphDefinition& graph, Run& run);

// The rows of what one finished task changed, ahead of its superstep's end. Leaves it as it is.
Result<std::vector<ValueRow>> pending_values(const GraphDefinition& graph, const Run& run,
                                             const NodeTask& task);

// The text of a channel as the state has it.
Result<std::string> channel_text(const GraphDefinition& graph, const Run& run,
                                 const ChannelVersion& channel);

// Makes the value the channel's newest version.
void add_version(ChannelVersion& channel, std::uint64_t seq, WriteOp kind, std::string_view text);

// The state, to be changed: copied first if a node may still look at it.
void* owned_state(const GraphDefinition& graph, Run& run);

bool is_transient(const GraphDefinition& graph, std::size_t channel);
// Null for a channel that the graph's state type lacks.
ChannelVersion* version_of(Run& run, std::size_t channel);

}  // namespace belay::engine
