#pragma once
// check/contents.h - what a store holds, as plain rows for the rules to look at.
//
// Runs are read and checked one at a time, so a store of any size can be checked; what the store
// says of all its runs at once is kept without their inputs.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "belay/graph.h"
#include "belay/rows.h"

namespace belay::check {

// What one chain of commits wrote, oldest first: a run's own, or that of a subgraph's visit.
struct SpaceContents {
  std::string checkpoint_ns;
  // Null when the scope lacks it, or has another version of it.
  std::shared_ptr<const GraphDefinition> graph;
  std::vector<CheckpointRow> checkpoints;
  std::vector<ValueRow> values;  // every version, by (seq, channel, index)
  std::vector<TaskRow> tasks;    // by superstep, position
};

// One run with all that its commits wrote, as one view of the store shows it. The space that it is
// itself is its own graph's.
struct RunContents : SpaceContents {
  RunRow row;
  // All versions of its graph that the scope has: an upgrade changes which of them counts.
  std::vector<std::shared_ptr<const GraphDefinition>> versions;
  std::vector<EventRow> events;
  std::vector<ApprovalRow> approvals;
  std::vector<EffectRow> effects;
  std::vector<OutboxRow> outbox;
  std::map<std::string, SpaceContents> inner;  // subgraphs' visits, by space
  // The runs that it was forked from, nearest first, as far as they are stored: without events,
  // tasks, effects, messages, subgraph checkpoints, and their own ancestors.
  std::vector<RunContents> ancestors;
};

struct ListedRun {
  RunId run;
  ThreadId thread;
  std::string graph;
  UserId user;
  std::string queue;
  std::string concurrency_key;
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

// Something that names a run: an approval, an effect, a message.
struct Belonging {
  std::string what;
  RunId run;
};

// What the store says of everything at once: threads and lists of runs as one view shows them.
struct StoreContents {
  std::vector<ThreadRow> threads;
  std::vector<ListedRun> runs;             // as the store lists them
  std::vector<ListedRun> runs_by_status;   // as it lists them when asked for each status by itself
  std::vector<ListedRun> unreadable_runs;  // listed, but not found by their id
  std::vector<SavedRecord> records;
  std::vector<Belonging> strays;  // whose runs are not listed
};

}  // namespace belay::check
