#pragma once
// check/contents.h - the contents of a store, as plain rows for the rules.
//
// Runs are read and checked one at a time, so that a store of any size can be checked. The list of
// all runs is held in memory without their inputs.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "belay/graph.h"
#include "belay/rows.h"

namespace belay::check {

// The rows of one chain of commits, oldest first: those of the run's own graph or of a subgraph
// task.
struct SpaceContents {
  std::string checkpoint_ns;
  // Null if the scope does not contain the graph in this version.
  std::shared_ptr<const GraphDefinition> graph;
  std::vector<CheckpointRow> checkpoints;
  // Every version, by (seq, channel, index). Of a later run of a thread: first, with the seq 0, the
  // values that the thread had before it.
  std::vector<ValueRow> values;
  std::vector<TaskRow> tasks;  // by superstep, position
};

// A run with all rows of its commits, from one snapshot. Its base class contains the rows of its
// own graph (the empty namespace).
struct RunContents : SpaceContents {
  RunRow row;
  // All versions of its graph in the scope: an upgrade changes the version that applies.
  std::vector<std::shared_ptr<const GraphDefinition>> versions;
  std::vector<EventRow> events;
  std::vector<ApprovalRow> approvals;
  std::vector<EffectRow> effects;
  std::vector<OutboxRow> outbox;
  std::map<std::string, SpaceContents> inner;  // subgraph tasks, by namespace
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
  std::int64_t ordinal = 0;
  bool has_started = true;
  Instant created_at{};
};

// A record that a run has saved, with the commit to which it refers.
struct SavedRecord {
  std::string collection;
  std::string key;
  RunId run;
  std::uint64_t seq = 0;
  std::optional<CommitKind> commit;  // nullopt if there is no such commit
  bool is_pruned = false;            // the commit was before the run's oldest one
};

// A row that refers to a run: an approval, an effect, a message.
struct Belonging {
  std::string what;
  RunId run;
};

// Threads and lists of runs, from one snapshot.
struct StoreContents {
  std::vector<ThreadRow> threads;
  std::vector<ListedRun> runs;             // as the store lists them
  std::vector<ListedRun> runs_by_status;   // from one query per status
  std::vector<ListedRun> unreadable_runs;  // listed, but not found by their id
  std::vector<SavedRecord> records;
  std::vector<Belonging> strays;  // rows whose runs are not listed
};

}  // namespace belay::check
