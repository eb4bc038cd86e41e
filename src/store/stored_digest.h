#pragma once
// store/stored_digest.h - the stored bytes of a checkpoint's chain hash: the digest itself, or its
// masked form in an encrypted store.

#include <algorithm>
#include <string>
#include <string_view>

#include "belay/rows.h"

namespace belay::store {

inline std::string bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// Returns the zero digest for bytes of another length.
inline Digest digest_of(std::string_view bytes) {
  Digest digest{};
  if (bytes.size() == digest.size()) std::copy(bytes.begin(), bytes.end(), digest.begin());
  return digest;
}

inline std::string kept_hash(const CheckpointRow& row) {
  return row.masked_hash.empty() ? bytes_of(row.chain_hash) : row.masked_hash;
}

inline void keep_hash(std::string kept, CheckpointRow& row) {
  row.chain_hash = digest_of(kept);
  row.masked_hash.clear();
  if (kept.size() != row.chain_hash.size()) row.masked_hash = std::move(kept);
}

}  // namespace belay::store
