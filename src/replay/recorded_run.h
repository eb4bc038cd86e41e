#pragma once
// replay/recorded_run.h - all stored rows of a run, for its replay.

#include <map>
#include <string>
#include <vector>

#include "events/event_rows.h"
#include "load/graph_registry.h"
#include "load/stored_run.h"

namespace belay {

struct RecordedRun {
  RunRow row;
  std::shared_ptr<const GraphDefinition> graph;
  std::map<std::string, std::vector<CheckpointRow>> checkpoints;  // by namespace, ordered by seq
  std::map<std::string, std::vector<ValueRow>> values;            // by namespace, ordered by seq
  std::vector<EventRow> events;
  std::vector<ApprovalRow> approvals;
  std::vector<OutboxRow> messages;
  std::map<std::pair<TaskId, std::string>, EffectRow> effects;  // by task and name
  // Errors of failed attempts by task and attempt, as far as they are recorded.
  std::map<TaskId, std::map<int, Error>> failures;
  // For tasks that completed before the last one of their superstep: the run's newest commit at
  // that time. Older versions of Belay did not record it; `has_order` is false then.
  std::map<TaskId, std::uint64_t> ends;
  bool has_order = true;
  std::map<TaskId, std::string> spaces;  // the namespace of each task
  // Decisions that continued a paused run, by the seq of their commit. The other decisions were
  // made while the run was running.
  std::map<std::uint64_t, InterruptId> wakes;
  // Of a fork and of a later run of a thread, which start from a state that an input alone does not
  // give: the run after the commit that started it, and the seq of this commit.
  std::optional<engine::StoredRun> started;
  std::uint64_t started_at = 0;

  const std::vector<CheckpointRow>& commits() const { return checkpoints.at({}); }
  const CheckpointRow* checkpoint(const std::string& checkpoint_ns, std::uint64_t seq) const;
};

// `invalid` if the first commits of the run were pruned, or its graph version is not registered.
Result<RecordedRun> recorded_run(Snapshot& view, const GraphRegistry& graphs, RunRow row);

}  // namespace belay
