#pragma once
// driver/event_rows.h - what a run's events are made of, read from one view of the store.

#include <optional>
#include <string>
#include <vector>

#include "belay/store.h"
#include "belay/value.h"

namespace belay {

struct RunOf {
  TenantId tenant;
  RunId run;
};

Result<Value> value_in(const std::string& envelope);

// Checkpoints of a space after the commit `after`, in their order, at most `count`.
Result<std::vector<CheckpointRow>> checkpoints_after(Snapshot& view, const RunOf& of,
                                                     const std::string& space, std::uint64_t after,
                                                     std::uint64_t count);
Result<std::optional<CheckpointRow>> checkpoint_at(Snapshot& view, const RunOf& of,
                                                   const std::string& space, std::uint64_t seq);
// Values that were written after one state of a space and count for another, by their seq.
Result<std::vector<ValueRow>> values_between(Snapshot& view, const RunOf& of,
                                             const std::string& space, std::uint64_t after,
                                             std::uint64_t until);
// What the commits after `after`, up to `until`, have stored as events.
Result<std::vector<EventRow>> stored_events(Snapshot& view, const RunOf& of, std::uint64_t after,
                                            std::uint64_t until);
// All of the run, in the order in which they were asked.
Result<std::vector<ApprovalRow>> approvals_of(Snapshot& view, const RunOf& of);

}  // namespace belay
