#pragma once
// redis/checkpoint_entry.h - the values of a run as they stand after its newest commit, as bytes
// for a cache: what they must be is told by the checkpoint that the store has.
//
// The bytes: "BLY1"; a digest; run, checkpoint (16 bytes each), epoch, seq, state_seq, the number
// of rows; each row's channel, seq, index, kind and envelope. Numbers are 8 bytes little-endian,
// texts a length and their bytes. The digest is SHA-256 over the checkpoint's chain hash as the
// store keeps it, and the SHA-256 of all that follows. That hash never stands in the cache, so
// bytes that were changed, cut, or made up by who does not know the store give no values.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "belay/rows.h"

namespace belay::redis {

// `values` are the run's own, of no subgraph.
std::string checkpoint_entry(const CheckpointRow& checkpoint, const std::vector<ValueRow>& values);
// Nothing unless they are just that checkpoint's.
std::optional<std::vector<ValueRow>> values_in_entry(std::string_view entry,
                                                     const CheckpointRow& checkpoint);

// "checkpoint:THREAD:GRAPH"; of another tenant than the default one "TENANT:checkpoint:...".
std::string checkpoint_key(const RunRow& run);

}  // namespace belay::redis
