#pragma once
// events/event_rows.h - reads the rows from which a run's events are made, from one snapshot.

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "belay/store.h"
#include "belay/value.h"

namespace belay {

// The members of a run by which its rows are found.
struct RunOf {
  RunOf() = default;
  explicit RunOf(const RunRow& row)
      : tenant(row.tenant), run(row.run), thread(row.thread), ordinal(row.ordinal) {}

  TenantId tenant;
  RunId run;
  ThreadId thread;
  std::int64_t ordinal = 0;
};

Result<Value> value_in(const std::string& envelope);

// Returns the checkpoints of a namespace after the commit `after`, oldest first, at most `count`.
Result<std::vector<CheckpointRow>> checkpoints_after(Snapshot& view, const RunOf& of,
                                                     const std::string& checkpoint_ns,
                                                     std::uint64_t after, std::uint64_t count);
Result<std::optional<CheckpointRow>> checkpoint_at(Snapshot& view, const RunOf& of,
                                                   const std::string& checkpoint_ns,
                                                   std::uint64_t seq);
// Returns the values of a namespace that were written after the state seq `after` and belong to the
// state at `until`, ordered by seq.
Result<std::vector<ValueRow>> values_between(Snapshot& view, const RunOf& of,
                                             const std::string& checkpoint_ns, std::uint64_t after,
                                             std::uint64_t until);
// Returns the values that the state of the thread had when the run began; none for a first run.
Result<std::vector<ValueRow>> values_before(Snapshot& view, const RunOf& of);
// Returns the events stored by the commits after `after`, up to `until`, in one list.
Result<std::vector<EventRow>> stored_events(Snapshot& view, const RunOf& of, std::uint64_t after,
                                            std::uint64_t until);

// Reads the values of a namespace, commit by commit: a few commits ahead, or only one if its values
// are large, so that little more memory is held than is used.
class ValuesAhead {
 public:
  // `commits`: how many commits one read covers; it is adjusted, and can be kept for the next
  // reader. The arguments outlive the object.
  ValuesAhead(Snapshot& view, const RunOf& of, std::string checkpoint_ns, std::size_t& commits)
      : view_(view), of_(of), space_(std::move(checkpoint_ns)), commits_(commits) {}
  // Returns the values valid at `list[index]` that were not valid at state seq `before`. They are
  // valid until the next call. REQUIRES: `list` is ordered, and calls follow its order.
  Result<std::vector<const ValueRow*>> of_commit(std::uint64_t before,
                                                 const std::vector<CheckpointRow>& list,
                                                 std::size_t index);

 private:
  Snapshot& view_;
  const RunOf& of_;
  const std::string space_;
  std::size_t& commits_;
  std::uint64_t until_ = 0;  // the state seq up to which `rows_` is complete
  std::vector<ValueRow> rows_;
};

// Reads the events stored by commits, commit by commit, in the same way.
class EventsAhead {
 public:
  // Starts with the commits after `after`. The arguments outlive the object.
  EventsAhead(Snapshot& view, const RunOf& of, std::uint64_t after);
  // REQUIRES: each call has a larger number than the one before.
  Result<std::vector<EventRow>> of_commit(std::uint64_t seq);

 private:
  Result<Done> read_on();

  Snapshot& view_;
  EventFilter filter_;
  std::deque<EventRow> rows_;
  bool is_all_ = false;
};

// Returns all approvals of the run, in the order of their requests.
Result<std::vector<ApprovalRow>> approvals_of(Snapshot& view, const RunOf& of);

}  // namespace belay
