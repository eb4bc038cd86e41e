#include "load/run_values.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace belay {
namespace {

constexpr std::uint64_t seq_max = std::numeric_limits<std::uint32_t>::max();

// Converts values of the thread's state to the form of a run's own values.
void own_values(const RunRow& run, std::vector<ValueRow>& rows) {
  std::uint64_t before = value_seq(run, 0);
  std::string_view channel;
  std::int64_t place = 0;
  for (ValueRow& row : rows) {
    row.run = run.run;
    row.thread = ThreadId();
    if (row.channel != channel) place = 0;
    channel = row.channel;
    bool is_own = row.seq > before;
    if (!is_own) row.index = place++;
    row.seq = is_own ? row.seq - before : 0;
  }
}

Result<std::vector<ValueRow>> thread_values(Snapshot& view, const RunRow& run, ValueFilter filter) {
  filter.thread = run.thread;
  filter.checkpoint_ns = std::string();
  filter.at_seq = value_seq(run, std::min(filter.at_seq, seq_max));
  filter.after_seq = value_seq(run, std::min(filter.after_seq, seq_max));
  BELAY_TRY(auto rows, view.values(filter));
  own_values(run, rows);
  return rows;
}

}  // namespace

Result<std::vector<ValueRow>> run_values(Snapshot& view, const RunRow& run, ValueFilter filter) {
  filter.tenant = run.tenant;
  filter.run = run.run;
  filter.thread = ThreadId();
  bool asks_only_inside = filter.checkpoint_ns && !filter.checkpoint_ns->empty();
  if (run.ordinal == 0 || asks_only_inside) return view.values(filter);
  bool asks_inside = !filter.checkpoint_ns;
  BELAY_TRY(auto rows, thread_values(view, run, filter));
  if (!asks_inside) return rows;
  BELAY_TRY(auto inside, view.values(filter));
  std::move(inside.begin(), inside.end(), std::back_inserter(rows));
  return rows;
}

Result<std::vector<ValueRow>> values_before(Snapshot& view, const RunRow& run) {
  if (run.ordinal == 0) return std::vector<ValueRow>();
  ValueFilter filter;
  filter.tenant = run.tenant;
  return thread_values(view, run, filter);
}

}  // namespace belay
