#pragma once
// runtime/start_records.h - the records that the first commit of a run saves
// (StartOptions::records).

#include "belay/store.h"

namespace belay {

// `invalid` if a record names no valid user.
Result<Done> check_record_users(const std::vector<RecordWrite>& records);
// After the refused first commit of `wanted`: `conflict` if a record does not have its expected
// version. If the run exists, an earlier try of the start, or an equal one, has saved the records.
Result<Done> check_record_versions(Snapshot& view, const RunRow& wanted,
                                   const std::vector<RecordWrite>& records);

}  // namespace belay
