#pragma once
// store/record_version.h - versions of records: see StoredRecord::version.

#include "belay/record.h"
#include "belay/rows.h"

namespace belay::store {

// Returns the version of a record that replaces one of version `before`; 0: it is a new record.
inline std::uint64_t next_version(std::uint64_t before, Instant now) {
  if (before > 0) return before + 1;
  auto microseconds = now.time_since_epoch().count();
  return microseconds > 0 ? static_cast<std::uint64_t>(microseconds) : 1;
}

// True if the stored record was written by this very put: a commit that is sent again, after its
// first reply was lost, finds its own record.
inline bool is_own_write(const RecordPut& put, std::uint64_t version, std::string_view envelope) {
  if (!put.expected_version || put.envelope.empty() || put.envelope != envelope) return false;
  return *put.expected_version == 0 || version == *put.expected_version + 1;
}

}  // namespace belay::store
