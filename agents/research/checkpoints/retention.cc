#include "agents/research/checkpoints/retention.h"

#include <algorithm>
#include <set>
#include <utility>

namespace belay::research {
namespace {

// A page or a commit has at least one row, and at most half of the rows of a read.
std::size_t page_bound(std::size_t wanted) {
  return std::clamp<std::size_t>(wanted, 1, limits::list_rows_max / 2);
}

bool lost_race(const Result<Done>& written) {
  return !written.ok() && written.error().code == ErrorCode::conflict;
}

void add_removal(Removal& sum, const Removal& other) {
  sum.checkpoints += other.checkpoints;
  sum.archived += other.archived;
  sum.agents += other.agents;
  sum.conflicts += other.conflicts;
  sum.is_unfinished = sum.is_unfinished || other.is_unfinished;
}

ArchivedCheckpoint archived_row(const RecordRow& row, const std::string& analysis_id, Instant now) {
  ArchivedCheckpoint archived;
  archived.id = row.key;
  archived.analysis_id = analysis_id;
  archived.archived_at = now;
  archived.checkpoint = parse_json(row.json, kCheckpointDepthMax).value_or(Value(row.json));
  return archived;
}

// The oldest checkpoints of an agent.
Task<Result<std::vector<RecordRow>>> oldest_rows(Records& records, CheckpointHead head,
                                                 std::size_t limit) {
  RecordSpan span("newest");
  span.equal_to(head.analysis_id, head.agent_type).limit(limit);
  RecordFilter filter = span.filter();
  filter.collection = AgentCheckpoint::collection;
  return records.find(std::move(filter));
}

Task<Result<bool>> is_preserved(Records& records, std::string analysis_id) {
  BELAY_CO_TRY(std::optional<PreservedAnalysis> found,
               co_await records.get<PreservedAnalysis>(std::move(analysis_id)));
  co_return found.has_value();
}

}  // namespace

Task<Result<Removal>> CheckpointRetention::succeeded(std::string analysis_id, Instant now) {
  BELAY_CO_CHECK(check_analysis(analysis_id));
  Order order;
  order.analysis_id = std::move(analysis_id);
  order.archive = options_.archive;
  order.now = now;
  co_return co_await remove_all(std::move(order));
}

Task<Result<std::size_t>> CheckpointRetention::failed(std::string analysis_id, Instant now) {
  BELAY_CO_CHECK(check_analysis(analysis_id));
  BELAY_CO_TRY(std::vector<Versioned<CheckpointHead>> heads,
               co_await heads_of(rows_.records(), std::move(analysis_id)));
  for (Versioned<CheckpointHead>& head : heads) {
    HeadWrite kept;
    kept.expected_version = head.version;
    kept.head = std::move(head.record);
    kept.head.due = std::max(kept.head.due, now + options_.kept);
    CheckpointWrites writes;
    writes.heads.push_back(std::move(kept));
    auto written = co_await rows_.write(std::move(writes));
    // A save that was first has set a later time.
    if (!written.ok() && !lost_race(written)) co_return std::move(written).error();
  }
  co_return heads.size();
}

Task<Result<std::size_t>> CheckpointRetention::preserve(std::string analysis_id, Instant now) {
  BELAY_CO_CHECK(check_analysis(analysis_id));
  PreservedAnalysis preserved;
  preserved.analysis_id = analysis_id;
  preserved.since = now;
  CheckpointWrites writes;
  writes.preserved.push_back(std::move(preserved));
  BELAY_CO_CHECK(co_await rows_.write(std::move(writes)));
  // Counted after the write: no later removal is committed.
  BELAY_CO_TRY(std::vector<Versioned<CheckpointHead>> heads,
               co_await heads_of(rows_.records(), std::move(analysis_id)));
  co_return heads.size();
}

Task<Result<Done>> CheckpointRetention::end_preservation(std::string analysis_id) {
  BELAY_CO_CHECK(check_analysis(analysis_id));
  CheckpointWrites writes;
  writes.no_longer_preserved.push_back(std::move(analysis_id));
  co_return co_await rows_.write(std::move(writes));
}

Task<Result<Removal>> CheckpointRetention::remove_all(Order order) {
  Removal all;
  while (true) {
    BELAY_CO_TRY(Removal step, co_await remove_step(order));
    add_removal(all, step);
    all.is_preserved = step.is_preserved;
    all.is_unfinished = step.is_unfinished;
    // An unfinished step has removed rows: the loop ends.
    if (!step.is_unfinished || !rows_.is_immediate()) co_return all;
  }
}

Task<Result<Removal>> CheckpointRetention::remove_step(Order order) {
  Removal removal;
  BELAY_CO_TRY(removal.is_preserved, co_await is_preserved(rows_.records(), order.analysis_id));
  if (removal.is_preserved) co_return removal;
  BELAY_CO_TRY(std::vector<Versioned<CheckpointHead>> heads,
               co_await heads_of(rows_.records(), order.analysis_id));
  for (Versioned<CheckpointHead>& head : heads) {
    BELAY_CO_CHECK(co_await remove_agent(order, std::move(head), removal));
  }
  co_return removal;
}

Task<Result<Done>> CheckpointRetention::remove_agent(Order order, Versioned<CheckpointHead> head,
                                                     Removal& removal) {
  std::size_t limit = page_bound(options_.rows_per_commit);
  BELAY_CO_TRY(std::vector<RecordRow> rows,
               co_await oldest_rows(rows_.records(), head.record, limit + 1));
  // With more rows than the limit, the newest one is not among the removed: the head remains.
  bool is_partial = rows.size() > limit;
  if (is_partial) rows.resize(limit);
  std::string name = checkpoint_cache_key(order.analysis_id, head.record.agent_type);
  CheckpointWrites writes;
  for (const RecordRow& row : rows) {
    if (order.archive) writes.archived.push_back(archived_row(row, order.analysis_id, order.now));
    writes.removed_checkpoints.push_back(row.key);
  }
  if (!is_partial) {
    HeadWrite removed;
    removed.head = std::move(head.record);
    removed.expected_version = head.version;
    writes.removed_heads.push_back(std::move(removed));
  }
  writes.unless_preserved.push_back(order.analysis_id);
  auto written = co_await rows_.write(std::move(writes));
  if (lost_race(written)) {
    ++removal.conflicts;
    co_return Done{};
  }
  if (!written.ok()) co_return written;
  removal.checkpoints += rows.size();
  if (order.archive) removal.archived += rows.size();
  if (is_partial) {
    removal.is_unfinished = true;
    co_return Done{};
  }
  ++removal.agents;
  if (cache_ && !rows_.is_replay()) cache_->remove(name);
  co_return Done{};
}

Task<Result<Done>> CheckpointRetention::sweep_analysis(std::string analysis_id, Instant now,
                                                       SweepPage& page) {
  BELAY_CO_TRY(std::vector<Versioned<CheckpointHead>> heads,
               co_await heads_of(rows_.records(), analysis_id));
  if (heads.empty()) co_return Done{};  // another process has removed them
  bool is_active = std::any_of(heads.begin(), heads.end(),
                               [&](const auto& head) { return head.record.due > now; });
  if (is_active) {
    ++page.active;
    co_return Done{};
  }
  Order order;
  order.analysis_id = std::move(analysis_id);
  order.now = now;
  BELAY_CO_TRY(Removal removal, co_await remove_all(std::move(order)));
  if (removal.is_preserved) ++page.preserved;
  if (removal.checkpoints > 0 || removal.agents > 0) ++page.analyses;
  add_removal(page.removed, removal);
  co_return Done{};
}

Task<Result<SweepPage>> CheckpointRetention::sweep_page(std::string after, Instant now) {
  RecordSpan span("due");
  span.until(now + Instant::duration(1)).limit(page_bound(options_.heads_per_page));
  if (!after.empty()) span.after(after);
  BELAY_CO_TRY(RecordPage<CheckpointHead> found,
               co_await read_page<CheckpointHead>(rows_.records(), std::move(span)));
  SweepPage page;
  page.heads = found.records.size();
  page.next = std::move(found.next);
  std::set<std::string> analyses;
  for (const Versioned<CheckpointHead>& head : found.records) {
    analyses.insert(head.record.analysis_id);
  }
  for (const std::string& analysis_id : analyses) {
    BELAY_CO_CHECK(co_await sweep_analysis(analysis_id, now, page));
  }
  co_return std::move(page);
}

Task<Result<SweepPage>> CheckpointRetention::sweep(Instant now) {
  SweepPage all;
  do {
    BELAY_CO_TRY(SweepPage page, co_await sweep_page(std::move(all.next), now));
    all.heads += page.heads;
    all.analyses += page.analyses;
    all.preserved += page.preserved;
    all.active += page.active;
    add_removal(all.removed, page.removed);
    all.next = std::move(page.next);
  } while (!all.next.empty());
  co_return std::move(all);
}

}  // namespace belay::research
