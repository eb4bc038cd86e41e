#include "store/memory/memory_snapshot.h"

#include <algorithm>

namespace belay::store {
namespace {

// Copies what `matches`, from the newest to the oldest, at most `limit`.
template <typename Rows, typename Matches, typename RowOf>
auto newest_first(const Rows& rows, std::size_t limit, Matches matches, RowOf row_of) {
  std::vector<std::decay_t<decltype(row_of(rows.front()))>> found;
  for (auto row = rows.rbegin(); row != rows.rend() && found.size() < limit; ++row) {
    if (matches(row_of(*row))) found.push_back(row_of(*row));
  }
  return found;
}

template <typename T>
bool allows(const std::optional<T>& wanted, const T& value) {
  return !wanted || *wanted == value;
}

// Texts are ordered by their bytes, as in every store.
bool by_channel_then_seq(const ValueRow* a, const ValueRow* b) {
  return std::tie(a->space, a->channel, a->seq) < std::tie(b->space, b->channel, b->seq);
}
bool by_seq_then_channel(const ValueRow* a, const ValueRow* b) {
  return std::tie(a->seq, a->space, a->channel) < std::tie(b->seq, b->space, b->channel);
}
bool same_channel(const ValueRow* a, const ValueRow* b) {
  return a->channel == b->channel && a->space == b->space;
}

bool record_matches(const RecordQuery& query, const RecordEntry& entry) {
  if (!query.key.empty() && entry.row.key != query.key) return false;
  if (!query.after.empty() && entry.row.key <= query.after) return false;
  if (query.field.empty()) return true;
  return std::any_of(entry.indexed.begin(), entry.indexed.end(), [&](const auto& field) {
    return field.first == query.field && field.second == query.value;
  });
}

}  // namespace

const RunTable* MemorySnapshot::run(const TenantId& tenant, const RunId& run) const {
  const TenantTables* tables = tables_.tenant(tenant);
  if (!tables) return nullptr;
  auto found = tables->run_by_id.find(run);
  return found == tables->run_by_id.end() ? nullptr : found->second;
}

Result<std::vector<ThreadRow>> MemorySnapshot::threads(const ThreadFilter& filter) {
  const TenantTables* tables = tables_.tenant(filter.tenant);
  if (!tables) return std::vector<ThreadRow>();
  return newest_first(
      tables->threads, filter.limit,
      [&](const ThreadRow& row) { return allows(filter.thread, row.thread); },
      [](const ThreadRow& row) -> const ThreadRow& { return row; });
}

Result<std::vector<RunRow>> MemorySnapshot::runs(const RunFilter& filter) {
  auto matches = [&](const RunRow& row) {
    const auto& wanted = filter.statuses;
    bool has_status =
        wanted.empty() || std::find(wanted.begin(), wanted.end(), row.status) != wanted.end();
    return has_status && allows(filter.run, row.run) && allows(filter.thread, row.thread);
  };
  if (filter.run) {
    const RunTable* table = run(filter.tenant, *filter.run);
    if (!table || filter.limit == 0 || !matches(table->row)) return std::vector<RunRow>();
    return std::vector<RunRow>{table->row};
  }
  const TenantTables* tables = tables_.tenant(filter.tenant);
  if (!tables) return std::vector<RunRow>();
  return newest_first(tables->runs, filter.limit, matches,
                      [](const RunTable& table) -> const RunRow& { return table.row; });
}

Result<std::vector<CheckpointRow>> MemorySnapshot::checkpoints(const CheckpointFilter& filter) {
  const RunTable* table = run(filter.tenant, filter.run);
  std::vector<CheckpointRow> found;
  if (!table) return found;
  std::uint64_t end = table->checkpoints.size();
  if (filter.before_seq) end = std::min(end, *filter.before_seq == 0 ? 0 : *filter.before_seq - 1);
  std::uint64_t begin = 0;
  if (filter.seq) {
    if (*filter.seq == 0 || *filter.seq > end) return found;
    end = *filter.seq;
    begin = end - 1;
  }
  while (end > begin && found.size() < filter.limit) found.push_back(table->checkpoints[--end]);
  return found;
}

Result<std::vector<ValueRow>> MemorySnapshot::values(const ValueFilter& filter) {
  const RunTable* table = run(filter.tenant, filter.run);
  std::vector<ValueRow> found;
  if (!table) return found;
  std::vector<const ValueRow*> wanted;
  for (const ValueRow& value : table->values) {
    if (value.seq > filter.at_seq) break;  // they are in the order of their seq
    wanted.push_back(&value);
  }
  std::sort(wanted.begin(), wanted.end(),
            filter.every_version ? by_seq_then_channel : by_channel_then_seq);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    bool is_replaced = i + 1 < wanted.size() && same_channel(wanted[i], wanted[i + 1]);
    if (filter.every_version || !is_replaced) found.push_back(*wanted[i]);
  }
  return found;
}

Result<std::vector<EventRow>> MemorySnapshot::events(const EventFilter& filter) {
  const RunTable* table = run(filter.tenant, filter.run);
  std::vector<EventRow> found;
  if (!table) return found;
  auto after = std::pair(filter.after_seq, filter.after_index);
  auto event = std::upper_bound(
      table->events.begin(), table->events.end(), after,
      [](const auto& place, const EventRow& row) { return place < std::pair(row.seq, row.index); });
  for (; event != table->events.end() && found.size() < filter.limit; ++event) {
    found.push_back(*event);
  }
  return found;
}

Result<std::vector<ApprovalRow>> MemorySnapshot::approvals(const ApprovalFilter& filter) {
  const TenantTables* tables = tables_.tenant(filter.tenant);
  if (!tables) return std::vector<ApprovalRow>();
  auto matches = [&](const ApprovalRow& row) {
    return (!filter.only_open || row.status == ApprovalStatus::open) &&
           (!filter.expired_at || row.expires_at <= *filter.expired_at) &&
           allows(filter.interrupt, row.interrupt) && allows(filter.run, row.run);
  };
  if (filter.interrupt || filter.run) {
    std::vector<ApprovalRow*> some;
    if (filter.interrupt) {
      auto found = tables->approval_by_id.find(*filter.interrupt);
      if (found != tables->approval_by_id.end()) some.push_back(found->second);
    } else if (const RunTable* table = run(filter.tenant, *filter.run)) {
      some = table->approvals;
    }
    return newest_first(some, filter.limit, matches,
                        [](const ApprovalRow* row) -> const ApprovalRow& { return *row; });
  }
  return newest_first(tables->approvals, filter.limit, matches,
                      [](const ApprovalRow& row) -> const ApprovalRow& { return row; });
}

Result<std::vector<StoredRecord>> MemorySnapshot::records(const RecordQuery& query) {
  std::vector<StoredRecord> found;
  const TenantTables* tables = tables_.tenant(query.tenant);
  if (!tables) return found;
  const std::string& first_key = query.key.empty() ? query.after : query.key;
  auto entry = tables->records.lower_bound(RecordKey(query.collection, query.user, first_key));
  for (; entry != tables->records.end() && found.size() < query.limit; ++entry) {
    const auto& [collection, user, key] = entry->first;
    if (collection != query.collection || user != query.user) break;
    if (!query.key.empty() && key != query.key) break;
    if (record_matches(query, entry->second)) found.push_back(entry->second.row);
  }
  return found;
}

}  // namespace belay::store
