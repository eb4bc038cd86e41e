#pragma once
// check/contents.h - what a store holds, as plain rows for the rules to look at.
//
// Runs are read and checked one at a time, so a store of any size can be checked; what the store
// says of all its runs at once is kept without their inputs.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "belay/graph.h"
#include "belay/rows.h"

namespace belay::check {

// One run with all that its commits wrote, oldest first, as one view of the store shows it.
struct RunContents {
  RunRow row;
  // Null when the scope lacks it, or has another version of it.
  std::shared_ptr<const GraphDefinition> graph;
  std::vector<CheckpointRow> checkpoints;
  std::vector<ValueRow> values;  // every version
  std::vector<EventRow> events;
  std::vector<ApprovalRow> approvals;
};

struct ListedRun {
  RunId run;
  ThreadId thread;
  std::string graph;
  RunStatus status = RunStatus::queued;
  Instant created_at{};
};

// A record that a run has saved, with the commit that it names.
struct SavedRecord {
  std::string collection;
  std::string key;
  RunId run;
  std::uint64_t seq = 0;
  std::optional<CommitKind> commit;  // nothing when there is no such commit
  bool is_pruned = false;            // it was before the run's oldest one
};

// What the store says of everything at once: threads and lists of runs as one view shows them.
struct StoreContents {
  std::vector<ThreadRow> threads;
  std::vector<ListedRun> runs;             // as the store lists them
  std::vector<ListedRun> runs_by_status;   // as it lists them when asked for each status by itself
  std::vector<ListedRun> unreadable_runs;  // listed, but not found by their id
  std::vector<SavedRecord> records;
};

}  // namespace belay::check
