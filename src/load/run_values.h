#pragma once
// load/run_values.h - reads the channel values of a run, wherever they are stored.
//
// The values of the first run of a thread are stored with the run; those of a later one are values
// of the thread's state, together with those of the other later runs (ValueRow in belay/rows.h).
// These functions return the same rows for both: with the run's id, and the seqs of the run's
// commits. Values that earlier runs of the thread have left have the seq 0; their indexes are their
// places within the channel.

#include "belay/store.h"

namespace belay {

// `filter`: the seqs are those of the run's commits; tenant, run and thread are set from `run`.
// REQUIRES: the run has started, or the filter asks for the values of a subgraph.
Result<std::vector<ValueRow>> run_values(Snapshot& view, const RunRow& run, ValueFilter filter);

// Returns the values that the state of the thread had when the run began; none for a first run.
Result<std::vector<ValueRow>> values_before(Snapshot& view, const RunRow& run);

}  // namespace belay
