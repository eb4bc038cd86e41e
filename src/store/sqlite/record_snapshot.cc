// SqliteSnapshot: reads of records.

#include "store/sqlite/read_rows.h"
#include "store/sqlite/sqlite_snapshot.h"

namespace belay::sqlite {
namespace {

// The sources and conditions of a query of records; all return rows in the order of an index,
// without a sort. bind_records() binds the parameters after the tenant.
std::string from_records(const RecordQuery& query) {
  if (query.only_expired) {
    return "records r WHERE r.tenant_id = ? AND r.expires_at IS NOT NULL AND r.expires_at <= ?"
           " LIMIT ?";
  }
  if (query.of_every_user) {
    return "records r WHERE r.tenant_id = ? AND r.collection = ? AND (r.user_id, r.key) > (?, ?)"
           " ORDER BY r.user_id, r.key LIMIT ?";
  }
  bool by_field = !query.field.empty();
  std::string sql = "records r WHERE r.tenant_id = ? AND r.collection = ? AND r.user_id = ?";
  if (by_field) {
    sql =
        "record_index i CROSS JOIN records r ON r.tenant_id = i.tenant_id"
        " AND r.collection = i.collection AND r.user_id = i.user_id AND r.key = i.key"
        " WHERE i.tenant_id = ? AND i.collection = ? AND i.user_id = ? AND i.field = ?";
    sql += query.range ? " AND i.value >= ?" : " AND i.value = ?";
  }
  std::string key = by_field ? "i.key" : "r.key";
  bool is_descending = query.range && query.range->is_descending;
  if (query.range && !query.range->until.empty()) sql += " AND i.value < ?";
  if (!query.key.empty()) sql += " AND " + key + " = ?";
  if (!query.after.empty() && query.range) {
    sql += is_descending ? " AND (i.value, i.key) < (?, ?)" : " AND (i.value, i.key) > (?, ?)";
  } else if (!query.after.empty()) {
    sql += " AND " + key + " > ?";
  }
  if (query.now != Instant()) sql += " AND (r.expires_at IS NULL OR r.expires_at > ?)";
  std::string order = query.range ? "i.value, i.key" : key;
  if (is_descending) order = "i.value DESC, i.key DESC";
  return sql + " ORDER BY " + order + " LIMIT ?";
}

void bind_records(const RecordQuery& query, Statement& rows) {
  if (query.only_expired) {
    rows.bind(query.now).bind(query.limit);
    return;
  }
  rows.bind(query.collection).bind(query.user.text);
  if (query.of_every_user) {
    rows.bind(query.after).bind(query.limit);
    return;
  }
  if (!query.field.empty())
    rows.bind(query.field).bind(query.range ? query.range->from : query.value);
  if (query.range && !query.range->until.empty()) rows.bind(query.range->until);
  if (!query.key.empty()) rows.bind(query.key);
  if (!query.after.empty() && query.range) rows.bind(query.range->after);
  if (!query.after.empty()) rows.bind(query.after);
  if (query.now != Instant()) rows.bind(query.now);
  rows.bind(query.limit);
}

}  // namespace

Result<std::vector<StoredRecord>> SqliteSnapshot::records(const RecordQuery& query) {
  BELAY_TRY(std::int64_t tenant, tenant_number(query.tenant));
  std::string sql =
      "SELECT " +
      store::select_list<StoredRecord>(
          "r", {{"run_id", "(SELECT run_id FROM runs WHERE run_number = r.run_number)"},
                {"sort_value", query.range ? "i.value" : "''"}}) +
      " FROM " + from_records(query);
  BELAY_TRY(Statement rows, connection_.prepare(sql));
  rows.bind(tenant);
  bind_records(query, rows);
  return all_rows<StoredRecord>(connection_, std::move(rows), read_fields<StoredRecord>);
}

}  // namespace belay::sqlite
