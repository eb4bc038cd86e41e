#pragma once
// engine/run_factory.h - makes runs that are not stored yet: new ones, and forks of stored ones

#include <memory>

#include "engine/restore.h"

namespace belay::engine {

// Makes a run that is not stored yet: the caller sets the ids and the session of `row`, and the
// state is `input`. `invalid` if the input cannot be written as JSON.
Result<Run> new_run(const GraphDefinition& graph, RunRow row, RunOptions options,
                    std::shared_ptr<void> input);

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
