#pragma once
// engine/restore.h - a run from its stored rows, as it stood after one of its commits.

#include <map>
#include <optional>
#include <vector>

#include "engine/run.h"

namespace belay::engine {

// One frame of a run: itself, or a subgraph's visit that is under way.
struct StoredSpace {
  CheckpointRow checkpoint;
  Digest parent_chain_hash{};     // of the checkpoint before; unused for the first
  std::string tasks_text;         // next_tasks of the checkpoint that this one's `as_of` names
  std::vector<ValueRow> values;   // as of the checkpoint's state_seq, see Snapshot::values()
  std::vector<ValueRow> pending;  // beyond it
  std::vector<TaskRow> tasks;     // of its superstep
  std::map<std::string, StoredSpace> inner;  // by space
};

struct StoredRun : StoredSpace {
  RunRow row;
  // The run's first commit, which its input has to fit: what of it no node has written since is
  // state still. Unset where `checkpoint` is that commit, or the first one was pruned.
  std::optional<CheckpointRow> first;
};

// The text of the tasks that a frame is to go on with.
std::string_view tasks_text_of(const StoredSpace& stored);

// `corrupt` when the bytes can't be read or the chain hash does not fit them; `invalid` when this
// graph can't carry the run on (its next node is gone, or a channel has become another type), or an
// upgrade refuses the state. `graph` is of the version that the run is of, or has an upgrade from
// it, or accepts older versions.
Result<Run> restore(const GraphDefinition& graph, StoredRun stored);

// The version of the graph that the stored state is of.
Result<Digest> version_of(const StoredRun& stored);

// A run that is not stored yet: its row's ids, session and options are the caller's, the state is
// `input`. `invalid` when the input can't be written as JSON.
Result<Run> new_run(const GraphDefinition& graph, RunRow row, RunOptions options,
                    std::shared_ptr<void> input);

// A run that goes on where `from` stands, as another run: its row's ids, session and `forked_*` are
// the caller's. `edits` is an object of channels that it begins with in place of those there; with
// any, the results of a superstep under way are not taken over, since they were made of the old
// state. What waited for a person or a time begins anew. `invalid` when nothing is left to do
// there, or an edit does not fit. With `kept`, of an ended run comes one that has ended alike.
enum class Ended { refused, kept };
Result<Run> fork_run(const GraphDefinition& graph, const StoredRun& stored, RunRow row,
                     const Value& edits, Ended ended);

// Combines a value with what is stored after it, without knowing its type.
void fold(WriteOp kind, Value from, Value& into);
// The channels by name as the rows have them, whatever their types.
Value raw_state(const StoredRun& stored);
// The channels by name, as a program reads them, those that the graph does not know included.
Value state_value(const GraphDefinition& graph, const StoredRun& stored, const Run& run);
// The same of a run at hand whose newest commit is durable, and nothing where only a store has all
// of it: channels of another version of the graph, or such as are not kept.
std::optional<Value> state_value(const GraphDefinition& graph, const Run& run);

std::string options_text(const RunOptions& options);
Result<RunOptions> options_from(std::string_view text);

}  // namespace belay::engine
