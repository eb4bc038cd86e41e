#pragma once
// redis/checkpoint_entry.h - encodes the values of a run after its newest commit for a cache, and
// decodes them with the store's checkpoint as the proof that they are valid.
//
// The bytes: "BLY1"; a digest; run, checkpoint (16 bytes each), epoch, seq, state_seq, the number
// of rows; each row's channel, seq, index, kind and envelope. Numbers are 8 bytes little-endian,
// texts a length and their bytes. The digest is SHA-256 over the stored form of the checkpoint's
// chain hash and the SHA-256 of all following bytes. The cache never contains the chain hash:
// entries that were changed, truncated, or created without access to the store are rejected.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "belay/rows.h"

namespace belay::redis {

// `values` are those of the run's own graph, without subgraphs.
std::string checkpoint_entry(const CheckpointRow& checkpoint, const std::vector<ValueRow>& values);
// Returns nullopt unless the entry is valid and belongs to exactly this checkpoint.
std::optional<std::vector<ValueRow>> values_in_entry(std::string_view entry,
                                                     const CheckpointRow& checkpoint);

// "checkpoint:THREAD:GRAPH"; for a tenant other than the default one "TENANT:checkpoint:...".
std::string checkpoint_key(const RunRow& run);

}  // namespace belay::redis
