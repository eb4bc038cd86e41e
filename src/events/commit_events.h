#pragma once
// events/commit_events.h - the events of one commit of a run, in their fixed order.
//
// Only facts that no later commit can change are reported: everything within a superstep with
// several tasks, and within subgraphs, is reported with the commit that ends the superstep or the
// run. Therefore the same rows yield the same events, whenever they are read. One kind of event is
// reported before its commit: the request of an approval. Its row contains the seq of the commit,
// and the approvals of a commit come first, in the order of their requests.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "belay/event.h"
#include "belay/graph.h"
#include "events/event_rows.h"

namespace belay {

// A task that a commit has scheduled.
struct ChosenTask {
  TaskId task;
  std::string node;
  std::optional<Value> input;
  // Set for a task in its backoff: its next attempt, the due time, and the error of the last one.
  int attempt = 1;
  Instant due{};
  std::optional<Error> failure;
};

// The state of a run, or of a subgraph task, after one of its commits.
struct EventFrame {
  std::string checkpoint_ns;
  std::optional<CheckpointRow> newest;  // unset: before the first commit
  std::vector<ChosenTask> tasks;
  std::shared_ptr<const GraphDefinition> graph;  // null if it is unknown
  bool is_exact = false;                         // `graph` has the version of the state
  // The channels, if `values` are requested. Shared, because each read copies the cursor.
  std::map<std::string, std::shared_ptr<const Value>> state;
};

// The position of a reader in a run's events: where the next read starts.
struct EventCursor {
  RunOf of;
  std::set<EventKind> kinds;
  std::optional<EventId> after;  // the newest event that was returned or skipped
  EventFrame frame;
  std::size_t commits_ahead = 4;  // see ValuesAhead
  bool wants(EventKind kind) const { return kinds.contains(kind); }
};

// The data from which a commit's events are built.
struct EventMaterial {
  RunRow run;
  std::vector<EventRow> events;  // stored by the commit
  std::vector<ApprovalRow> approvals;
};

// Events that are returned together. When the batch is full, the remaining events of the commit are
// returned in the next batch.
class EventBatch {
 public:
  std::vector<StreamEvent> events;
  // Returns their size as JSON; measures each event once.
  std::size_t bytes();
  bool is_full() { return bytes() >= bytes_max; }

 private:
  static constexpr std::size_t bytes_max = std::size_t{4} << 20;
  std::size_t measured_ = 0;
  std::size_t bytes_ = 0;
};

// Sets the tasks of the frame to those that the checkpoint `now` continues with. `not_found` if the
// commit that scheduled them was pruned.
Result<Done> read_chosen(Snapshot& view, const RunOf& of, const CheckpointRow& now,
                         EventFrame& frame);

// Returns the default values of a graph's channels.
Value defaults_of(const GraphDefinition& graph);
// Splits an object into its channels.
std::map<std::string, std::shared_ptr<const Value>> channels_of(Value state);

class CommitReporter {
 public:
  // Makes the events of the commit `seq`: appends them to `batch` and advances `place`.
  CommitReporter(Snapshot& view, EventCursor& place, const EventMaterial& material,
                 std::uint64_t seq, EventBatch& batch)
      : view_(view), place_(place), material_(material), seq_(seq), batch_(batch) {}

  // `values`: those valid after `now` that were not valid before. If is_cut() is true afterwards,
  // `place` is after the last event in the batch, and the caller must restore its frame to the
  // value from before the call.
  Result<Done> report(const CheckpointRow& now, const std::vector<const ValueRow*>& values);
  // Reports only the requested approvals, which can be known before the commit.
  Result<Done> tell_asked();
  // True if the batch became full before all events of the commit were appended.
  bool is_cut() const { return is_cut_; }

 private:
  using Values = std::vector<const ValueRow*>;

  StreamEvent* next(EventKind kind, Instant at, const std::string& checkpoint_ns = {});
  Result<Done> tell_frame(EventFrame& frame, const CheckpointRow& now, const Values& values,
                          bool is_root);
  Result<Done> tell_inside(const EventFrame& outer);
  Result<Done> tell_space(EventFrame frame);
  void tell_tasks(const EventFrame& frame, const CheckpointRow& now, std::string_view what);
  Result<Done> tell_answered(const CheckpointRow& now);
  Result<Done> tell_stored(const CheckpointRow& now);
  Result<Done> tell_changes(EventFrame& frame, const CheckpointRow& now, const Values& values);
  Result<Done> tell_checkpoint(const EventFrame& frame, const CheckpointRow& now, bool is_root);
  Result<Done> tell_all(const EventFrame& frame, const CheckpointRow& now, const Values& values);
  void tell_status(const CheckpointRow& now);
  Result<Value> own_detail() const;

  Snapshot& view_;
  EventCursor& place_;
  const EventMaterial& material_;
  std::uint64_t seq_;
  EventBatch& batch_;
  std::uint64_t index_ = 0;
  bool is_cut_ = false;
  std::set<TaskId> over_;  // tasks whose superstep this commit ends, those of subgraphs included
};

}  // namespace belay
