// MemorySnapshot: reads of records.

#include <algorithm>

#include "store/memory/memory_snapshot.h"
#include "store/memory/tables.h"

namespace belay::store {
namespace {

bool has_expired(const StoredRecord& row, Instant now) {
  return row.expires_at != Instant() && row.expires_at <= now;
}

bool record_matches(const RecordQuery& query, const RecordEntry& entry) {
  if (query.now != Instant() && has_expired(entry.row, query.now)) return false;
  if (!query.key.empty() && entry.row.key != query.key) return false;
  if (!query.after.empty() && entry.row.key <= query.after) return false;
  if (query.field.empty()) return true;
  return std::any_of(entry.indexed.begin(), entry.indexed.end(), [&](const auto& field) {
    return field.first == query.field && field.second == query.value;
  });
}

std::vector<StoredRecord> records_in_range(const TenantTables& tables, const RecordQuery& query) {
  const RecordRange& range = *query.range;
  auto at = [&](const std::string& value, const std::string& key) {
    return OrderKey(query.collection, query.user, query.field, value, key);
  };
  // The name that follows the index's own.
  OrderKey behind(query.collection, query.user, query.field + '\0', "", "");
  auto begin = tables.orders.lower_bound(at(range.from, ""));
  auto end = tables.orders.lower_bound(range.until.empty() ? behind : at(range.until, ""));
  if (!query.after.empty()) {
    OrderKey last = at(range.after, query.after);
    if (range.is_descending) {
      if (end == tables.orders.end() || last < *end) end = tables.orders.lower_bound(last);
    } else if (begin == tables.orders.end() || *begin <= last) {
      begin = tables.orders.upper_bound(last);
    }
  }
  // The conditions that the range does not contain.
  RecordQuery rest = query;
  rest.field.clear();
  rest.after.clear();
  std::vector<StoredRecord> found;
  auto position = range.is_descending ? end : begin;
  auto stop = range.is_descending ? begin : end;
  bool is_empty = begin == tables.orders.end() || (end != tables.orders.end() && *end < *begin);
  while (!is_empty && position != stop && found.size() < query.limit) {
    if (range.is_descending) --position;
    const auto& [collection, user, index, value, key] = *position;
    const RecordEntry& entry = tables.records.at(RecordKey(collection, user, key));
    if (record_matches(rest, entry)) {
      found.push_back(entry.row);
      found.back().sort_value = value;
    }
    if (!range.is_descending) ++position;
  }
  return found;
}

}  // namespace

Result<std::vector<StoredRecord>> MemorySnapshot::records(const RecordQuery& query) {
  std::vector<StoredRecord> found;
  const TenantTables* tables = tables_.tenant(query.tenant);
  if (!tables) return found;
  if (query.only_expired) {
    for (const auto& [key, entry] : tables->records) {
      if (found.size() == query.limit) break;
      if (has_expired(entry.row, query.now)) found.push_back(entry.row);
    }
    return found;
  }
  if (query.range) return records_in_range(*tables, query);
  if (query.of_every_user) {
    auto entry = tables->records.upper_bound(RecordKey(query.collection, query.user, query.after));
    for (; entry != tables->records.end() && found.size() < query.limit; ++entry) {
      if (std::get<0>(entry->first) != query.collection) break;
      found.push_back(entry->second.row);
    }
    return found;
  }
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
