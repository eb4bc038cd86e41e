#include "telemetry/held_loop_report.h"

#include <algorithm>

#include "belay/detail/codec.h"
#include "belay/value.h"
#include "telemetry/families.h"

namespace belay::telemetry {
namespace {

constexpr std::chrono::minutes kReportEvery{1};
// Further nodes are counted by the metrics only.
constexpr std::size_t kNodesMax = 1'000;

std::optional<HeldLoopDay> day_in_key(const std::string& key) {
  HeldLoopDay day;
  std::size_t first = key.find(' ');
  std::size_t last = key.rfind(' ');
  if (first == key.npos || last == first) return std::nullopt;
  day.date = key.substr(0, first);
  day.agent = key.substr(first + 1, last - first - 1);
  day.node = key.substr(last + 1);
  return day;
}

// Takes the counts of a record that can be read: not of an encrypted one without its key.
void read_counts(const StoredRecord& row, HeldLoopDay& day) {
  auto text = json_in_envelope(row.envelope);
  if (!text.ok()) return;
  auto value = parse_json(*text);
  if (!value.ok()) return;
  day.times = (*value)["times"].as_int().value_or(0);
  day.longest_ms = (*value)["longest_ms"].as_int().value_or(0);
}

Task<Result<Done>> add_to_day(Store& store, TenantId tenant, HeldLoopDay day, Instant now) {
  std::function<Result<std::vector<StoredRecord>>(Snapshot&)> reader =
      [tenant, key = day.key()](Snapshot& view) {
        RecordQuery query;
        query.tenant = tenant;
        query.collection = std::string(HeldLoopDay::collection);
        query.key = key;
        return view.records(query);
      };
  auto found = co_await read<std::vector<StoredRecord>>(store, std::move(reader));
  if (!found.ok()) co_return std::move(found).error();
  HeldLoopDay before;
  if (!found->empty()) read_counts(found->front(), before);
  Value counts = Value::object({{"times", before.times + day.times},
                                {"longest_ms", std::max(before.longest_ms, day.longest_ms)}});
  RecordPut put;
  put.collection = std::string(HeldLoopDay::collection);
  put.key = day.key();
  put.envelope = json_envelope(to_json(counts));
  put.expires_at = now + kHeldLoopKept;
  Commit commit;
  commit.tenant = std::move(tenant);
  commit.rows.records.push_back(std::move(put));
  auto outcome = co_await store.commit(std::move(commit));
  if (!outcome.ok()) co_return std::move(outcome).error();
  co_return Done{};
}

}  // namespace

void HeldLoopReport::note(const HeldLoop& held) {
  std::int64_t ms = held.held.count();
  auto place = std::pair(held.graph, held.node);
  if (!nodes_.contains(place) && nodes_.size() >= kNodesMax) return;
  Noted& noted = nodes_[place];
  noted.longest_ms = std::max(noted.longest_ms, ms);
  if (telemetry_.metrics) {
    telemetry_.metrics->add(kLoopHeld, {{"agent", held.graph}, {"node", held.node}});
    telemetry_.metrics->set(kLoopHeldMax, {{"agent", held.graph}, {"node", held.node}},
                            static_cast<double>(noted.longest_ms) / 1'000);
  }
  ++noted.times;
  Instant now = clock_.now();
  bool is_recent =
      noted.reported != Instant() && now >= noted.reported && now - noted.reported < kReportEvery;
  if (is_recent) return;
  noted.reported = now;
  std::int64_t times = std::exchange(noted.times, 0);
  if (telemetry_.log && telemetry_.log->wants(LogLevel::warning)) {
    telemetry_.log->write(
        {LogLevel::warning,
         "loop.held",
         "The node held the event loop, and with it all runs of this process. Wait in a coroutine, "
         "or use context.run_blocking().",
         {{"agent", held.graph},
          {"node", held.node},
          {"heldMs", std::to_string(ms)},
          {"times", std::to_string(times)}}});
  }
  write_record(held, noted, times);
}

void HeldLoopReport::write_record(const HeldLoop& held, Noted& noted, std::int64_t times) {
  if (noted.is_writing) return;
  noted.is_writing = true;
  Instant now = clock_.now();
  HeldLoopDay day{to_text(now).substr(0, 10), held.graph, held.node, times, noted.longest_ms};
  auto task = add_to_day(store_, held.tenant, std::move(day), now);
  // An error of the store costs only this record.
  std::function<void(Result<Done>)> done = [&noted](Result<Done>) { noted.is_writing = false; };
  noted.writing = spawn<Result<Done>>(executor_, std::move(task), std::move(done));
}

Result<std::vector<HeldLoopDay>> held_loop_days(Snapshot& view, const TenantId& tenant) {
  RecordQuery query;
  query.tenant = tenant;
  query.collection = std::string(HeldLoopDay::collection);
  BELAY_TRY(std::vector<StoredRecord> rows, view.records(query));
  std::vector<HeldLoopDay> days;
  for (const StoredRecord& row : rows) {
    auto day = day_in_key(row.key);
    if (!day) continue;
    read_counts(row, *day);
    days.push_back(*std::move(day));
  }
  return days;
}

}  // namespace belay::telemetry
