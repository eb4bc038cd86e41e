#pragma once
// driver/commit_events.h - the events of one commit of a run, in their fixed order.
//
// Only what no later commit can change is told: what happens in the midst of a superstep of several
// tasks, and inside of subgraphs, is told with the commit that ends the superstep, or the run. So
// the same rows give the same events, whenever they are read. The one thing that is told ahead of
// its commit is a question: its row says which commit it belongs to, and the questions of a commit
// come first, in the order in which they were asked.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "belay/event.h"
#include "belay/graph.h"
#include "driver/event_rows.h"

namespace belay {

// A task that a commit goes on with.
struct ChosenTask {
  TaskId task;
  std::string node;
  std::optional<Value> input;
  // Of a task that waits for its next attempt.
  int attempt = 1;
  Instant due{};
  std::optional<Error> failure;
};

// A run, or a subgraph's visit, as it stands after one of its commits.
struct EventFrame {
  std::string checkpoint_ns;
  std::optional<CheckpointRow> newest;  // none: before the first
  std::vector<ChosenTask> tasks;
  std::shared_ptr<const GraphDefinition> graph;  // null where it is not known
  bool is_exact = false;  // the graph is of the very version that the state is of
  // The channels, if `values` are requested: shared, because each read copies the position.
  std::map<std::string, std::shared_ptr<const Value>> state;
};

// How far a reader has come: what the next read begins with.
struct EventCursor {
  RunOf of;
  std::set<EventKind> kinds;
  std::optional<EventId> after;  // the newest event that was told, or left out
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

// Events that are returned together. Once the batch is full, the remaining events of the
// commit go into the next batch.
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

// What a checkpoint says of how the frame goes on. `not_found` when the commit that chose its tasks
// has been pruned.
Result<Done> read_chosen(Snapshot& view, const RunOf& of, const CheckpointRow& now,
                         EventFrame& frame);

// The channels of a graph's state at their defaults.
Value defaults_of(const GraphDefinition& graph);
// Splits an object into its channels.
std::map<std::string, std::shared_ptr<const Value>> channels_of(Value state);

class CommitReporter {
 public:
  // Appends the commit's events to `batch`, and advances `place`.
  CommitReporter(Snapshot& view, EventCursor& place, const EventMaterial& material,
                 std::uint64_t seq, EventBatch& batch)
      : view_(view), place_(place), material_(material), seq_(seq), batch_(batch) {}

  // `values`: those valid after `now` that were not valid before. If is_cut() is true afterwards,
  // `place` is after the last event in the batch, and the caller must restore its frame to the
  // value from before the call.
  Result<Done> report(const CheckpointRow& now, const std::vector<const ValueRow*>& values);
  // Only its questions, which may be known before the commit is.
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
