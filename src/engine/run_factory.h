#pragma once
// engine/run_factory.h - makes runs that are not stored yet: new ones, and forks of stored ones

#include <memory>

#include "engine/restore.h"

namespace belay::engine {

// Makes a run that is not stored yet: the caller sets the ids, the ordinal and the session of
// `row`, and the state is `input`. `invalid` if the input cannot be written as JSON. With an
// ordinal above 0, the run waits for the end of the earlier runs of its thread, unless begin_run()
// follows.
Result<Run> new_run(const GraphDefinition& graph, RunRow row, RunOptions options,
                    std::shared_ptr<void> input);

// The same from the stored form of a row that new_run() has filled in: its input and options.
Result<Run> new_run_from(const GraphDefinition& graph, RunRow row);

// The newest run of a thread that has started, when all runs before another one have ended.
struct RunBefore {
  StoredRun stored;
  // Channels with pending writes of a superstep that did not end: stored after its state.
  std::vector<std::string> dropped_channels;
  // The state of an older commit, which replaces the newest state of the thread.
  bool is_older = false;
};

// Starts a waiting run from the state that the run before it has left: applies its input to this
// state (see belay/thread.h), and sets the values that its next commit must write. `invalid`,
// naming the channel, if the input does not fit the state.
Result<Run> begin_run(const GraphDefinition& graph, const RunBefore& before, Run waiting);

enum class Ended { refused, kept };

// Makes a run that continues from `stored` as another run: the caller sets the ids, the session and
// `forked_*` of `row`. `edits` is an object of channels that replace the stored ones; with any
// edit, results of a superstep in progress are dropped, because they were computed from the old
// state. Tasks that waited for a decision or a timer start again. `invalid` if `stored` has no
// tasks left, or an edit does not match its channel. With Ended::kept, an ended run yields an ended
// run.
Result<Run> fork_run(const GraphDefinition& graph, const StoredRun& stored, RunRow row,
                     const Value& edits, Ended ended);

}  // namespace belay::engine
