#include "driver/event_rows.h"

#include <algorithm>
#include <limits>

#include "belay/limits.h"
#include "engine/next_task.h"

namespace belay {

Result<Value> value_in(const std::string& envelope) {
  BELAY_TRY(std::string_view text, json_in_envelope(envelope));
  return parse_json(text);
}

// Checkpoints after `after` in their order, at most `count`.
Result<std::vector<CheckpointRow>> checkpoints_after(Snapshot& view, const RunOf& of,
                                                     const std::string& space, std::uint64_t after,
                                                     std::uint64_t count) {
  CheckpointFilter filter;
  filter.tenant = of.tenant;
  filter.run = of.run;
  filter.space = space;
  filter.before_seq = after + count + 1;
  filter.limit = count;
  BELAY_TRY(auto rows, view.checkpoints(filter));
  std::erase_if(rows, [after](const CheckpointRow& row) { return row.seq <= after; });
  std::reverse(rows.begin(), rows.end());
  return rows;
}

Result<std::optional<CheckpointRow>> checkpoint_at(Snapshot& view, const RunOf& of,
                                                   const std::string& space, std::uint64_t seq) {
  BELAY_TRY(auto rows, checkpoints_after(view, of, space, seq - 1, 1));
  return rows.empty() ? std::optional<CheckpointRow>() : std::optional(std::move(rows.front()));
}

// Values that were written after one state and count for another.
Result<std::vector<ValueRow>> values_between(Snapshot& view, const RunOf& of,
                                             const std::string& space, std::uint64_t after,
                                             std::uint64_t until) {
  if (until <= after) return std::vector<ValueRow>();
  ValueFilter filter;
  filter.tenant = of.tenant;
  filter.run = of.run;
  filter.space = space;
  filter.every_version = true;
  filter.after_seq = after;
  filter.at_seq = until;
  return view.values(filter);
}

Result<std::vector<EventRow>> stored_events(Snapshot& view, const RunOf& of, std::uint64_t after,
                                            std::uint64_t until) {
  std::vector<EventRow> found;
  EventFilter filter;
  filter.tenant = of.tenant;
  filter.run = of.run;
  filter.after_seq = after;
  filter.after_index = std::numeric_limits<std::int64_t>::max();
  filter.limit = limits::page_rows_max;
  while (true) {
    BELAY_TRY(auto rows, view.events(filter));
    bool is_last = rows.size() < filter.limit || rows.back().seq > until;
    for (EventRow& row : rows) {
      if (row.seq <= until) found.push_back(std::move(row));
    }
    if (is_last) return found;
    filter.after_seq = found.back().seq;
    filter.after_index = found.back().index;
  }
}

// All of a run, in the order in which they were asked.
Result<std::vector<ApprovalRow>> approvals_of(Snapshot& view, const RunOf& of) {
  ApprovalFilter filter;
  filter.tenant = of.tenant;
  filter.run = of.run;
  filter.limit = std::numeric_limits<std::int32_t>::max();
  BELAY_TRY(auto rows, view.approvals(filter));
  std::reverse(rows.begin(), rows.end());
  return rows;
}

}  // namespace belay
