#pragma once
// agents/checkpointer/kept_checkpoints.h - the checkpoints and values of a thread that remain when
// others are removed.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "agents/checkpointer/checkpoint_records.h"

namespace belay::checkpointer {

// The records of a thread by key, without data.
using ThreadCheckpoints = std::map<std::string, StoredCheckpoint>;
using ThreadValues = std::map<std::string, StoredValues>;

// Returns the keys of the checkpoints that the newest one of each namespace needs: itself, and for
// each of its delta channels the ancestors up to the nearest one with a value. The metadata of a
// checkpoint name its delta channels in `counters_since_delta_snapshot`.
std::set<std::string> newest_checkpoints(const ThreadCheckpoints& checkpoints);

// Returns the places of the values that these checkpoints have, and of their bases.
std::set<ValuePlace> values_of(const ThreadCheckpoints& checkpoints,
                               const std::set<std::string>& kept, const ThreadValues& values);

}  // namespace belay::checkpointer
