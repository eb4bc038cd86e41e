#pragma once
// engine/restore.h - restores runs from their stored rows, as of a commit

#include <map>
#include <optional>
#include <vector>

#include "engine/run.h"

namespace belay::engine {

// The stored rows of one frame: of the run itself, or of a subgraph task in progress.
struct StoredSpace {
  CheckpointRow checkpoint;
  Digest parent_chain_hash{};     // of the previous checkpoint; unused for the first
  std::string tasks_text;         // next_tasks of the checkpoint that this one's `as_of` names
  std::vector<ValueRow> values;   // as of the checkpoint's state_seq, see Snapshot::values()
  std::vector<ValueRow> pending;  // pending writes: those above state_seq
  std::vector<TaskRow> tasks;     // of its superstep
  std::map<std::string, StoredSpace> inner;  // by namespace
};

struct StoredRun : StoredSpace {
  RunRow row;
  // The run's first commit, whose chain hash the input must match: input channels that no node has
  // written are still part of the state. Unset if `checkpoint` is that commit, or if it was pruned.
  std::optional<CheckpointRow> first;
};

// Returns the stored text of the tasks that the frame continues with.
std::string_view tasks_text_of(const StoredSpace& stored);

// Restores a run. `corrupt` if the bytes cannot be read or do not match the chain hash; `invalid`
// if this graph cannot continue the run (the next node does not exist, a channel has another type),
// or an upgrade rejects the state. `graph` must have the run's version, or an upgrade from that
// version, or accept older versions.
Result<Run> restore(const GraphDefinition& graph, StoredRun stored);

// The same without the tasks: the state that a later run of the thread starts from.
Result<Run> restore_state(const GraphDefinition& graph, const StoredRun& stored);

// Restores a run of an unknown graph, to cancel it: its channels are unknown, and its tasks have no
// nodes. Verifies the chain hash. Subgraphs in progress are left out.
Result<Run> restore_without_graph(const StoredRun& stored);

// False while a run waits for the end of earlier runs of its thread.
bool has_started(const StoredRun& stored);
// True if the channels start from the input of the run: the values of a later run of a thread
// contain its input.
bool input_is_state(const StoredRun& stored);

// Returns the graph version that wrote the stored state.
Result<Digest> version_of(const StoredRun& stored);

// Returns the bill of materials of the stored commit; empty: it has none.
Result<BillOfMaterials> materials_of(const StoredSpace& stored);

// Combines a value with a later write of the same channel, without knowing the channel's type.
void fold(WriteOp kind, Value from, Value& into);
// Returns the channels by name, as stored, without regard to their types.
Value raw_state(const StoredRun& stored);
// Returns the channels by name, as the program reads them; channels unknown to the graph as stored.
Value state_value(const GraphDefinition& graph, const StoredRun& stored, const Run& run);
// The same for a run in memory whose newest commit is durable. nullopt if only the store has all of
// it: the state is of another graph version, or a channel is unknown or transient.
std::optional<Value> state_value(const GraphDefinition& graph, const Run& run);

// Reads `from`, the value of a write of that kind, into the channel of the run's state. Members
// that the program's types do not have are added to `unknown`. `invalid` if the channel has another
// type; a channel that the graph does not have stays unchanged.
Result<Done> read_channel(const GraphDefinition& graph, Run& run, const ChannelVersion& channel,
                          WriteOp kind, const Value& from, Unknown& unknown);

}  // namespace belay::engine
