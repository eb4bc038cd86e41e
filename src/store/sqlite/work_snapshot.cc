// Reads of SqliteSnapshot: channel values, tasks, effects, messages, blobs.

#include <algorithm>
#include <tuple>

#include "belay/limits.h"
#include "store/sqlite/envelopes.h"
#include "store/sqlite/list_conditions.h"
#include "store/sqlite/read_rows.h"
#include "store/sqlite/sqlite_snapshot.h"

namespace belay::sqlite {
namespace {

bool is_before(const ValueRow& a, const ValueRow& b) {
  return std::tie(a.checkpoint_ns, a.channel, a.seq, a.index) <
         std::tie(b.checkpoint_ns, b.channel, b.seq, b.index);
}

// Sorts rows that are not in order, and removes the values that a `set` of the same seq has
// replaced, and the operands of reducers.
std::vector<ValueRow> without_replaced(std::vector<ValueRow> rows) {
  if (!std::is_sorted(rows.begin(), rows.end(), is_before)) {
    std::sort(rows.begin(), rows.end(), is_before);
  }
  std::vector<ValueRow> found;
  found.reserve(rows.size());
  std::size_t channel_begin = 0;  // in `found`
  for (ValueRow& value : rows) {
    bool is_next_channel = found.empty() || found.back().channel != value.channel ||
                           found.back().checkpoint_ns != value.checkpoint_ns;
    if (is_next_channel) channel_begin = found.size();
    if (value.kind == WriteOp::reduce) continue;
    // Discards earlier values of the channel: another task wrote them with the same seq.
    if (value.kind == WriteOp::set) found.resize(channel_begin);
    found.push_back(std::move(value));
  }
  return found;
}

// The columns of a row of channel_values, and of one of thread_values.
const std::string& run_columns_of_value() {
  static const std::string columns = store::select_list<ValueRow>("v", {{"thread_id", "''"}});
  return columns;
}
const std::string& thread_columns_of_value() {
  static const std::string columns =
      store::select_list<ValueRow>("v", {{"thread_id", "''"}, {"namespace", "''"}});
  return columns;
}

}  // namespace

Result<std::vector<ValueRow>> SqliteSnapshot::values(const ValueFilter& filter) {
  if (!filter.thread.empty()) return thread_values(filter);
  BELAY_TRY(Place place, place_of(filter.tenant, filter.run));
  return filter.every_version ? every_value(place, filter) : values_that_count(place, filter);
}

Result<std::vector<ValueRow>> SqliteSnapshot::every_value(const Place& place,
                                                          const ValueFilter& filter) {
  std::string sql =
      "SELECT " + run_columns_of_value() +
      " FROM channel_values v WHERE tenant_id = ? AND run_number = ? AND seq <= ? AND seq > ?";
  if (filter.checkpoint_ns) sql += " AND namespace = ?";
  sql += " ORDER BY seq, namespace, channel, value_index";
  BELAY_TRY(Statement rows, connection_.prepare(sql));
  rows.bind(place.tenant).bind(place.run).bind(filter.at_seq).bind(filter.after_seq);
  if (filter.checkpoint_ns) rows.bind(*filter.checkpoint_ns);
  auto read_row = [&](const Statement& row, ValueRow& value) {
    value.run = filter.run;
    return read_fields(row, value);
  };
  return all_rows<ValueRow>(connection_, std::move(rows), read_row);
}

// Jumps from channel to channel in the index, finds the newest `set` there, and reads the rows from
// it on; rows that it replaced are never read. The rows come in order that way; an ORDER BY would
// make SQLite sort them together with their envelopes.
Result<std::vector<ValueRow>> SqliteSnapshot::values_that_count(const Place& place,
                                                                const ValueFilter& filter) {
  static const std::string sql =
      "WITH RECURSIVE spaces (space) AS ("
      "  SELECT iif(?5, ?4, (SELECT min(n.namespace) FROM channel_values n"
      "    WHERE n.tenant_id = ?1 AND n.run_number = ?2))"
      "  UNION ALL SELECT (SELECT min(n.namespace) FROM channel_values n"
      "    WHERE n.tenant_id = ?1 AND n.run_number = ?2 AND n.namespace > space)"
      "  FROM spaces WHERE NOT ?5 AND space IS NOT NULL),"
      " channels (space, name) AS ("
      "  SELECT space, (SELECT min(n.channel) FROM channel_values n"
      "    WHERE n.tenant_id = ?1 AND n.run_number = ?2 AND n.namespace = space)"
      "  FROM spaces WHERE space IS NOT NULL"
      "  UNION ALL SELECT space, (SELECT min(n.channel) FROM channel_values n"
      "    WHERE n.tenant_id = ?1 AND n.run_number = ?2 AND n.namespace = space"
      "    AND n.channel > name) FROM channels WHERE name IS NOT NULL ORDER BY 1, 2)"
      " SELECT " +
      run_columns_of_value() +
      " FROM channels c CROSS JOIN channel_values v"
      " WHERE v.tenant_id = ?1 AND v.run_number = ?2 AND v.namespace = c.space"
      " AND v.channel = c.name AND v.seq <= ?3 AND v.seq >= coalesce("
      "   (SELECT s.seq FROM channel_values s WHERE s.tenant_id = ?1 AND s.run_number = ?2"
      "     AND s.namespace = c.space AND s.channel = c.name AND s.seq <= ?3 AND s.kind IS "
      "NULL"
      "     ORDER BY s.seq DESC LIMIT 1), 0)";
  BELAY_TRY(Statement statement, connection_.prepare(sql));
  statement.bind(place.tenant).bind(place.run).bind(filter.at_seq);
  statement.bind(filter.checkpoint_ns ? std::string_view(*filter.checkpoint_ns)
                                      : std::string_view());
  statement.bind(std::int64_t{filter.checkpoint_ns.has_value()});
  auto read_row = [&](const Statement& row, ValueRow& value) {
    value.run = filter.run;
    return read_fields(row, value);
  };
  BELAY_TRY(auto rows, all_rows<ValueRow>(connection_, std::move(statement), read_row));
  return without_replaced(std::move(rows));
}

// The values of a thread's state, by the same rules.
Result<std::vector<ValueRow>> SqliteSnapshot::thread_values(const ValueFilter& filter) {
  if (filter.checkpoint_ns && !filter.checkpoint_ns->empty()) return std::vector<ValueRow>();
  BELAY_TRY(std::int64_t tenant, tenant_number(filter.tenant));
  static const std::string thread =
      "(SELECT thread_number FROM threads WHERE tenant_id = ?1 AND thread_id = ?2)";
  static const std::string every = "SELECT " + thread_columns_of_value() +
                                   " FROM thread_values v WHERE v.tenant_id = ?1"
                                   " AND v.thread_number = " +
                                   thread +
                                   " AND v.seq <= ?3 AND v.seq > ?4"
                                   " ORDER BY v.seq, v.channel, v.value_index";
  static const std::string newest =
      "WITH RECURSIVE thread (number) AS MATERIALIZED (SELECT " + thread +
      "),"
      " channels (name) AS ("
      "  SELECT (SELECT min(n.channel) FROM thread_values n"
      "    WHERE n.tenant_id = ?1 AND n.thread_number = (SELECT number FROM thread))"
      "  UNION ALL SELECT (SELECT min(n.channel) FROM thread_values n"
      "    WHERE n.tenant_id = ?1 AND n.thread_number = (SELECT number FROM thread)"
      "    AND n.channel > name) FROM channels WHERE name IS NOT NULL)"
      " SELECT " +
      thread_columns_of_value() +
      " FROM channels c CROSS JOIN thread_values v"
      " WHERE v.tenant_id = ?1 AND v.thread_number = (SELECT number FROM thread)"
      " AND v.channel = c.name AND v.seq <= ?3 AND v.seq >= coalesce("
      "   (SELECT s.seq FROM thread_values s WHERE s.tenant_id = ?1"
      "     AND s.thread_number = (SELECT number FROM thread) AND s.channel = c.name"
      "     AND s.seq <= ?3 AND s.kind IS NULL ORDER BY s.seq DESC LIMIT 1), 0)";
  BELAY_TRY(Statement statement, connection_.prepare(filter.every_version ? every : newest));
  statement.bind(tenant).bind(filter.thread.text).bind(filter.at_seq);
  if (filter.every_version) statement.bind(filter.after_seq);
  auto read_row = [&](const Statement& row, ValueRow& value) -> Result<Done> {
    BELAY_CHECK(read_fields(row, value));
    value.thread = filter.thread;
    return Done{};
  };
  BELAY_TRY(auto rows, all_rows<ValueRow>(connection_, std::move(statement), read_row));
  if (filter.every_version) return rows;
  return without_replaced(std::move(rows));
}

Result<std::vector<TaskRow>> SqliteSnapshot::tasks(const TaskFilter& filter) {
  BELAY_TRY(Place place, place_of(filter.tenant, filter.run));
  std::string sql = "SELECT " + store::select_list<TaskRow>("t") +
                    " FROM tasks t WHERE tenant_id = ? AND run_number = ? AND namespace = ?";
  if (filter.superstep) sql += " AND superstep = ?";
  sql += " ORDER BY superstep, position";
  BELAY_TRY(Statement rows, connection_.prepare(sql));
  rows.bind(place.tenant).bind(place.run).bind(filter.checkpoint_ns);
  if (filter.superstep) rows.bind(*filter.superstep);
  auto read_row = [&](const Statement& row, TaskRow& task) {
    task.run = filter.run;
    task.checkpoint_ns = filter.checkpoint_ns;
    return read_fields(row, task);
  };
  return all_rows<TaskRow>(connection_, std::move(rows), read_row);
}

Result<std::vector<EffectRow>> SqliteSnapshot::effects(const EffectFilter& filter) {
  BELAY_TRY(std::int64_t tenant, tenant_number(filter.tenant));
  std::string sql =
      "SELECT " + store::select_list<EffectRow>("e", {{"run_id", "r.run_id"}}) +
      " FROM effects e CROSS JOIN runs r ON r.run_number = e.run_number WHERE e.tenant_id = ?";
  if (filter.run) {
    sql += " AND e.run_number = (SELECT run_number FROM runs WHERE tenant_id = ? AND run_id = ?)";
  }
  if (filter.task) sql += " AND e.task_id = ?";
  bool only_unfinished = !filter.statuses.empty();
  for (std::size_t i = 0; i < filter.statuses.size(); ++i) {
    sql += i == 0 ? " AND e.status IN (?" : ", ?";
    only_unfinished = only_unfinished && (filter.statuses[i] == EffectStatus::intended ||
                                          filter.statuses[i] == EffectStatus::uncertain);
  }
  if (!filter.statuses.empty()) sql += ")";
  if (only_unfinished) sql += " AND e.status IN ('intended', 'uncertain')";
  bool is_page = filter.run && filter.after;
  if (is_page) sql += " AND (e.task_id, e.name) > (?, ?)";
  sql += is_page ? " ORDER BY e.task_id, e.name LIMIT ?" : " ORDER BY e.effect_number LIMIT ?";
  BELAY_TRY(Statement rows, connection_.prepare(sql));
  rows.bind(tenant);
  if (filter.run) rows.bind(tenant).bind(*filter.run);
  if (filter.task) rows.bind(*filter.task);
  for (EffectStatus status : filter.statuses) rows.bind(status);
  if (is_page) rows.bind(filter.after->first).bind(filter.after->second);
  rows.bind(filter.limit);
  return all_rows<EffectRow>(connection_, std::move(rows), read_fields<EffectRow>);
}

Result<std::vector<OutboxRow>> SqliteSnapshot::outbox(const OutboxFilter& filter) {
  BELAY_TRY(std::int64_t tenant, tenant_number(filter.tenant));
  std::string sql =
      "SELECT " +
      store::select_list<OutboxRow>(
          "o", {{"run_id", "r.run_id"}, {"envelope", filter.without_body ? "x''" : "o.envelope"}});
  if (filter.first_of_each_run) sql += ", min(o.message_number)";
  sql += " FROM outbox o CROSS JOIN runs r ON r.run_number = o.run_number WHERE o.tenant_id = ?";
  if (filter.run) {
    sql += " AND o.run_number = (SELECT run_number FROM runs WHERE tenant_id = ? AND run_id = ?)";
  }
  if (filter.due_by) sql += " AND o.status = 'waiting' AND o.due_at <= ?";
  if (filter.without_delivered) sql += " AND o.status <> 'delivered'";
  bool is_page = filter.run && filter.after;
  if (filter.user) {
    sql += " AND (SELECT s.user_id FROM run_starts s WHERE s.run_number = o.run_number) = ?";
  }
  if (is_page) sql += " AND (o.seq, o.message_index) > (?, ?)";
  ListConditions lists;
  lists.add("o.topic IN", filter.topics, text_itself);
  sql += lists.sql();
  // SQLite takes the group's other columns from the row with the smallest number.
  if (filter.first_of_each_run) sql += " GROUP BY o.run_number";
  sql +=
      is_page ? " ORDER BY o.seq, o.message_index LIMIT ?" : " ORDER BY o.message_number LIMIT ?";
  BELAY_TRY(Statement rows, connection_.prepare(sql));
  rows.bind(tenant);
  if (filter.run) rows.bind(tenant).bind(*filter.run);
  if (filter.due_by) rows.bind(*filter.due_by);
  if (filter.user) rows.bind(filter.user->text);
  if (is_page) rows.bind(filter.after->first).bind(filter.after->second);
  lists.bind(rows);
  rows.bind(filter.limit);
  return all_rows<OutboxRow>(connection_, std::move(rows), read_fields<OutboxRow>);
}

Result<std::vector<BlobRow>> SqliteSnapshot::blobs(const TenantId& tenant,
                                                   const std::vector<Digest>& ids) {
  BELAY_TRY(std::int64_t number, tenant_number(tenant));
  std::vector<BlobRow> found;
  for (const Digest& id : ids) {
    BELAY_TRY(Statement row, connection_.prepare("SELECT envelope FROM blobs"
                                                 " WHERE tenant_id = ? AND blob_id = ?"));
    row.bind(number).bind(id);
    Statement::Step step = row.step();
    if (step == Statement::Step::failed) return connection_.error();
    if (step == Statement::Step::row) found.push_back({id, row.text(0)});
  }
  return found;
}

Result<std::vector<BlobUse>> SqliteSnapshot::blob_uses(const TenantId& tenant,
                                                       const Digest& after) {
  BELAY_TRY(std::int64_t number, tenant_number(tenant));
  BELAY_TRY(Statement rows, connection_.prepare("SELECT b.blob_id, p.put_number FROM blobs b"
                                                " JOIN blob_puts p USING (tenant_id, blob_number)"
                                                " WHERE b.tenant_id = ? AND b.blob_id > ?"
                                                " ORDER BY b.blob_id LIMIT ?"));
  rows.bind(number).bind(after).bind(static_cast<std::int64_t>(limits::page_rows_max));
  auto read_row = [](Statement& row, BlobUse& use) -> Result<Done> {
    use.id = row.digest(0);
    use.last_put = row.natural(1);
    return Done{};
  };
  return all_rows<BlobUse>(connection_, std::move(rows), read_row);
}

Result<std::vector<StoredEnvelope>> SqliteSnapshot::envelopes(const EnvelopeFilter& filter) {
  BELAY_TRY(std::int64_t tenant, tenant_number(filter.tenant));
  return list_envelopes(connection_, tenant, filter);
}

}  // namespace belay::sqlite
