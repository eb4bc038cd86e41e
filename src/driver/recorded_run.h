#pragma once
// driver/recorded_run.h - all that a store has of a run, for replaying it.

#include <map>
#include <string>
#include <vector>

#include "driver/event_rows.h"
#include "driver/graph_registry.h"
#include "driver/stored_run.h"

namespace belay {

struct RecordedRun {
  RunRow row;
  std::shared_ptr<const GraphDefinition> graph;
  std::map<std::string, std::vector<CheckpointRow>> checkpoints;  // by space, in their order
  std::map<std::string, std::vector<ValueRow>> values;            // by space, by their seq
  std::vector<EventRow> events;
  std::vector<ApprovalRow> approvals;
  std::vector<OutboxRow> messages;
  std::map<std::pair<TaskId, std::string>, EffectRow> effects;  // by task and name
  // What attempts of a task failed with, as far as it is recorded.
  std::map<TaskId, std::map<int, Error>> failures;
  // Tasks among several that had ended before the last of their superstep did: the run's newest
  // commit then. Stores of older versions have no such order.
  std::map<TaskId, std::uint64_t> ends;
  bool has_order = true;
  std::map<TaskId, std::string> spaces;  // where tasks were chosen
  // Decisions that a commit made use of because the run was paused, by that commit; the others were
  // made while it worked.
  std::map<std::uint64_t, InterruptId> wakes;
  // Of a fork: how it began.
  std::optional<engine::StoredRun> forked;

  const std::vector<CheckpointRow>& commits() const { return checkpoints.at({}); }
  const CheckpointRow* checkpoint(const std::string& checkpoint_ns, std::uint64_t seq) const;
};

// `invalid` for a run whose first commits were pruned, or whose version of the graph is not known.
Result<RecordedRun> recorded_run(Snapshot& view, const GraphRegistry& graphs, RunRow row);

}  // namespace belay
