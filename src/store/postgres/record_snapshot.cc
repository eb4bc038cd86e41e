// PostgresSnapshot: reads of records.

#include "store/postgres/postgres_snapshot.h"

namespace belay::postgres {
namespace {

// The value of an ordered index, as record_index_ordered has it.
constexpr std::string_view sort_value = "(i.value COLLATE \"C\")";

// Adds the sources and conditions of a query of records; all return rows in the order of an index,
// without a sort.
void add_by_index(const RecordQuery& wanted, Query& query) {
  query.add(
      "belay.record_index i JOIN belay.records r ON r.tenant = i.tenant"
      " AND r.collection = i.collection AND r.user_id = i.user_id AND r.key = i.key"
      " WHERE i.tenant = ? AND i.collection = ? AND i.user_id = ? AND i.field = ?",
      wanted.tenant, wanted.collection, wanted.user, wanted.field);
  if (!wanted.range) {
    query.add(" AND i.value_hash = ? AND i.value = ?", sha256(wanted.value), wanted.value);
    return;
  }
  std::string value(sort_value);
  query.add(" AND i.field LIKE 'order:%' AND " + value + " >= ?", wanted.range->from);
  if (!wanted.range->until.empty()) query.add(" AND " + value + " < ?", wanted.range->until);
}

void add_records(const RecordQuery& wanted, Query& query) {
  if (wanted.only_expired) {
    query.add("belay.records r WHERE r.tenant = ? AND r.expires_at <= ? LIMIT ?", wanted.tenant,
              wanted.now, wanted.limit);
    return;
  }
  if (wanted.of_every_user) {
    query.add(
        "belay.records r WHERE r.tenant = ? AND r.collection = ? AND (r.user_id, r.key) > (?, ?)"
        " ORDER BY r.user_id, r.key LIMIT ?",
        wanted.tenant, wanted.collection, wanted.user, wanted.after, wanted.limit);
    return;
  }
  bool by_field = !wanted.field.empty();
  bool is_descending = wanted.range && wanted.range->is_descending;
  if (by_field) {
    add_by_index(wanted, query);
  } else {
    query.add("belay.records r WHERE r.tenant = ? AND r.collection = ? AND r.user_id = ?",
              wanted.tenant, wanted.collection, wanted.user);
  }
  std::string key = by_field ? "i.key" : "r.key";
  std::string value(sort_value);
  if (!wanted.key.empty()) query.add(" AND " + key + " = ?", wanted.key);
  if (!wanted.after.empty() && wanted.range) {
    query.add(" AND (" + value + ", i.key) " + (is_descending ? "<" : ">") + " (?, ?)",
              wanted.range->after, wanted.after);
  } else if (!wanted.after.empty()) {
    query.add(" AND " + key + " > ?", wanted.after);
  }
  if (wanted.now != Instant()) {
    query.add(" AND (r.expires_at IS NULL OR r.expires_at > ?)", wanted.now);
  }
  std::string order = key;
  if (wanted.range) order = is_descending ? value + " DESC, i.key DESC" : value + ", i.key";
  query.add(" ORDER BY " + order + " LIMIT ?", wanted.limit);
}

}  // namespace

Result<std::vector<StoredRecord>> PostgresSnapshot::records(const RecordQuery& wanted) {
  Query query(
      "SELECT " +
      store::select_list<StoredRecord>("r", {{"sort_value", wanted.range ? "i.value" : "''"}}) +
      " FROM ");
  add_records(wanted, query);
  return all<StoredRecord>(query, read_fields<StoredRecord>);
}

}  // namespace belay::postgres
