#pragma once
// driver/event_rows.h - what a run's events are made of, read from one view of the store.

#include <deque>
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
// What the commits after `after`, up to `until`, have stored as events: all at once.
Result<std::vector<EventRow>> stored_events(Snapshot& view, const RunOf& of, std::uint64_t after,
                                            std::uint64_t until);

// The values of a space, commit after commit. They are read for a few commits at a time, for one
// where they are large, so that little more is held than is used.
class ValuesAhead {
 public:
  // `commits`: how many are read for at once; it is adjusted, and may be kept for the next reader.
  // What is handed in outlives the object.
  ValuesAhead(Snapshot& view, const RunOf& of, std::string space, std::size_t& commits)
      : view_(view), of_(of), space_(std::move(space)), commits_(commits) {}
  // Those that count after `list[index]`, and did not with `before` as the state's seq. They are
  // valid until the next call. REQUIRES: `list` is in order, and so are the calls.
  Result<std::vector<const ValueRow*>> of_commit(std::uint64_t before,
                                                 const std::vector<CheckpointRow>& list,
                                                 std::size_t index);

 private:
  Snapshot& view_;
  const RunOf& of_;
  const std::string space_;
  std::size_t& commits_;
  std::uint64_t until_ = 0;  // a state's seq up to which `rows_` are there
  std::vector<ValueRow> rows_;
};

// What commits have stored as events, commit after commit, read likewise.
class EventsAhead {
 public:
  // Of the commits after `after`. What is handed in outlives the object.
  EventsAhead(Snapshot& view, const RunOf& of, std::uint64_t after);
  // REQUIRES: calls for growing numbers.
  Result<std::vector<EventRow>> of_commit(std::uint64_t seq);

 private:
  Result<Done> read_on();

  Snapshot& view_;
  EventFilter filter_;
  std::deque<EventRow> rows_;
  bool is_all_ = false;
};

// All of the run, in the order in which they were asked.
Result<std::vector<ApprovalRow>> approvals_of(Snapshot& view, const RunOf& of);

}  // namespace belay
