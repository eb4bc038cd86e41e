#include "events/event_rows.h"

#include <algorithm>
#include <limits>

#include "belay/limits.h"
#include "engine/next_task.h"
#include "load/run_values.h"

namespace belay {
namespace {

RunRow row_of(const RunOf& of) {
  RunRow row;
  row.tenant = of.tenant;
  row.run = of.run;
  row.thread = of.thread;
  row.ordinal = of.ordinal;
  return row;
}

// If the values of a read are smaller in total, the next read covers more commits.
constexpr std::size_t small_bytes = 256 * 1024;
constexpr std::size_t commits_at_once_max = limits::bounded(8, 2);
constexpr std::size_t events_at_first = 16;

}  // namespace

Result<Value> value_in(const std::string& envelope) {
  BELAY_TRY(std::string_view text, json_in_envelope(envelope));
  return parse_json(text);
}

Result<std::vector<CheckpointRow>> checkpoints_after(Snapshot& view, const RunOf& of,
                                                     const std::string& checkpoint_ns,
                                                     std::uint64_t after, std::uint64_t count) {
  CheckpointFilter filter;
  filter.tenant = of.tenant;
  filter.run = of.run;
  filter.checkpoint_ns = checkpoint_ns;
  filter.before_seq = after + count + 1;
  filter.limit = count;
  BELAY_TRY(auto rows, view.checkpoints(filter));
  std::erase_if(rows, [after](const CheckpointRow& row) { return row.seq <= after; });
  std::reverse(rows.begin(), rows.end());
  return rows;
}

Result<std::optional<CheckpointRow>> checkpoint_at(Snapshot& view, const RunOf& of,
                                                   const std::string& checkpoint_ns,
                                                   std::uint64_t seq) {
  BELAY_TRY(auto rows, checkpoints_after(view, of, checkpoint_ns, seq - 1, 1));
  return rows.empty() ? std::optional<CheckpointRow>() : std::optional(std::move(rows.front()));
}

Result<std::vector<ValueRow>> values_between(Snapshot& view, const RunOf& of,
                                             const std::string& checkpoint_ns, std::uint64_t after,
                                             std::uint64_t until) {
  if (until <= after) return std::vector<ValueRow>();
  ValueFilter filter;
  filter.checkpoint_ns = checkpoint_ns;
  filter.every_version = true;
  filter.after_seq = after;
  filter.at_seq = until;
  return run_values(view, row_of(of), std::move(filter));
}

Result<std::vector<ValueRow>> values_before(Snapshot& view, const RunOf& of) {
  return values_before(view, row_of(of));
}

Result<std::vector<const ValueRow*>> ValuesAhead::of_commit(std::uint64_t before,
                                                            const std::vector<CheckpointRow>& list,
                                                            std::size_t index) {
  const CheckpointRow& now = list[index];
  if (now.state_seq > std::max(until_, before)) {
    std::size_t last = std::min(index + commits_, list.size()) - 1;
    rows_.clear();
    until_ = list[last].state_seq;
    BELAY_TRY(rows_, values_between(view_, of_, space_, before, until_));
    std::size_t bytes = 0;
    for (const ValueRow& row : rows_) bytes += row.envelope.size();
    commits_ = bytes > small_bytes ? 1 : std::min(2 * commits_, commits_at_once_max);
  }
  std::vector<const ValueRow*> values;
  for (const ValueRow& row : rows_) {
    if (row.seq > before && row.seq <= now.state_seq) values.push_back(&row);
  }
  return values;
}

EventsAhead::EventsAhead(Snapshot& view, const RunOf& of, std::uint64_t after) : view_(view) {
  filter_.tenant = of.tenant;
  filter_.run = of.run;
  filter_.after_seq = after;
  filter_.after_index = std::numeric_limits<std::int64_t>::max();
  filter_.limit = events_at_first;
}

Result<Done> EventsAhead::read_on() {
  BELAY_TRY(auto rows, view_.events(filter_));
  is_all_ = rows.size() < filter_.limit;
  std::size_t bytes = 0;
  for (EventRow& row : rows) {
    bytes += row.body.size();
    filter_.after_seq = row.seq;
    filter_.after_index = row.index;
    rows_.push_back(std::move(row));
  }
  bool is_large = bytes > small_bytes;
  filter_.limit = is_large ? events_at_first : std::min(2 * filter_.limit, limits::page_rows_max);
  return Done{};
}

Result<std::vector<EventRow>> EventsAhead::of_commit(std::uint64_t seq) {
  while (!is_all_ && (rows_.empty() || rows_.back().seq <= seq)) BELAY_CHECK(read_on());
  std::vector<EventRow> found;
  while (!rows_.empty() && rows_.front().seq <= seq) {
    if (rows_.front().seq == seq) found.push_back(std::move(rows_.front()));
    rows_.pop_front();
  }
  return found;
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
