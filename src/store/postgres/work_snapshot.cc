// Reads of PostgresSnapshot: channel values, tasks, effects, messages, blobs.

#include <algorithm>
#include <tuple>

#include "belay/limits.h"
#include "store/postgres/envelopes.h"
#include "store/postgres/postgres_snapshot.h"

namespace belay::postgres {
namespace {

bool is_before(const ValueRow& a, const ValueRow& b) {
  return std::tie(a.checkpoint_ns, a.channel, a.seq, a.index) <
         std::tie(b.checkpoint_ns, b.channel, b.seq, b.index);
}

// Removes the values that a `set` of the same seq has replaced, and the operands of reducers.
std::vector<ValueRow> without_replaced(std::vector<ValueRow> rows) {
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
std::string run_columns_of_value() {
  return store::select_list<ValueRow>("v", {{"thread_id", "''"}});
}
std::string thread_columns_of_value() {
  return store::select_list<ValueRow>("v", {{"thread_id", "''"}, {"namespace", "''"}});
}

}  // namespace

Result<std::vector<ValueRow>> PostgresSnapshot::values(const ValueFilter& filter) {
  if (!filter.thread.empty()) return thread_values(filter);
  return filter.every_version ? every_value(filter) : values_that_count(filter);
}

Result<std::vector<ValueRow>> PostgresSnapshot::every_value(const ValueFilter& filter) {
  Query query("SELECT " + run_columns_of_value() + " FROM belay.channel_values v");
  query.add(" WHERE tenant = ? AND run_id = ? AND seq <= ? AND seq > ?", filter.tenant, filter.run,
            filter.at_seq, filter.after_seq);
  if (filter.checkpoint_ns) query.add(" AND namespace = ?", *filter.checkpoint_ns);
  query.add(" ORDER BY seq, namespace, channel, value_index").keep_plan();
  return all<ValueRow>(query, [&](const Rows& rows, int row, ValueRow& value) {
    value.run = filter.run;
    return read_fields(rows, row, value);
  });
}

// Jumps from channel to channel in the index, finds the newest `set` there, and reads the rows from
// it on; rows that it replaced are never read. The server returns the rows in order that way, but
// does not guarantee it: hence the check below.
Result<std::vector<ValueRow>> PostgresSnapshot::values_that_count(const ValueFilter& filter) {
  Query query("WITH RECURSIVE channels (space, name) AS ((SELECT n.namespace, n.channel");
  query.bind(filter.tenant, filter.run, filter.at_seq);
  std::string in_space;
  if (filter.checkpoint_ns) {
    query.bind(*filter.checkpoint_ns);
    in_space = " AND n.namespace = $4";
  }
  std::string of_run = " FROM belay.channel_values n WHERE n.tenant = $1 AND n.run_id = $2";
  query.add(of_run + in_space +
            " ORDER BY n.namespace, n.channel LIMIT 1)"
            " UNION ALL SELECT next.namespace, next.channel FROM channels c CROSS JOIN LATERAL"
            " (SELECT n.namespace, n.channel" +
            of_run + in_space +
            " AND (n.namespace, n.channel) > (c.space, c.name)"
            " ORDER BY n.namespace, n.channel LIMIT 1) next)"
            " SELECT " +
            run_columns_of_value() +
            " FROM channels c CROSS JOIN LATERAL (SELECT coalesce((SELECT n.seq" + of_run +
            " AND n.namespace = c.space AND n.channel = c.name AND n.seq <= $3 AND n.kind IS NULL"
            " ORDER BY n.seq DESC LIMIT 1), 0) AS seq) whole"
            " CROSS JOIN LATERAL (SELECT n.*" +
            of_run +
            " AND n.namespace = c.space AND n.channel = c.name AND n.seq <= $3"
            " AND n.seq >= whole.seq ORDER BY n.seq, n.value_index) v");
  query.keep_plan();
  BELAY_TRY(auto rows, all<ValueRow>(query, [&](const Rows& given, int row, ValueRow& value) {
              value.run = filter.run;
              return read_fields(given, row, value);
            }));
  if (!std::is_sorted(rows.begin(), rows.end(), is_before)) {
    std::sort(rows.begin(), rows.end(), is_before);
  }
  return without_replaced(std::move(rows));
}

// The values of a thread's state, by the same rules.
Result<std::vector<ValueRow>> PostgresSnapshot::thread_values(const ValueFilter& filter) {
  if (filter.checkpoint_ns && !filter.checkpoint_ns->empty()) return std::vector<ValueRow>();
  Query query(filter.every_version ? "SELECT " : "WITH RECURSIVE channels (name) AS ((SELECT ");
  query.bind(filter.tenant, filter.thread, filter.at_seq);
  std::string of_thread = " FROM belay.thread_values n WHERE n.tenant = $1 AND n.thread_id = $2";
  if (filter.every_version) {
    query.add(thread_columns_of_value() +
                  " FROM belay.thread_values v WHERE v.tenant = $1 AND v.thread_id = $2"
                  " AND v.seq <= $3 AND v.seq > ? ORDER BY v.seq, v.channel, v.value_index",
              filter.after_seq);
  } else {
    query.add("n.channel" + of_thread +
              " ORDER BY n.channel LIMIT 1)"
              " UNION ALL SELECT next.channel FROM channels c CROSS JOIN LATERAL"
              " (SELECT n.channel" +
              of_thread +
              " AND n.channel > c.name ORDER BY n.channel LIMIT 1) next)"
              " SELECT " +
              thread_columns_of_value() +
              " FROM channels c CROSS JOIN LATERAL (SELECT coalesce((SELECT n.seq" + of_thread +
              " AND n.channel = c.name AND n.seq <= $3 AND n.kind IS NULL"
              " ORDER BY n.seq DESC LIMIT 1), 0) AS seq) whole"
              " CROSS JOIN LATERAL (SELECT n.*" +
              of_thread +
              " AND n.channel = c.name AND n.seq <= $3 AND n.seq >= whole.seq"
              " ORDER BY n.seq, n.value_index) v");
  }
  query.keep_plan();
  BELAY_TRY(auto rows,
            all<ValueRow>(query, [&](const Rows& given, int row, ValueRow& value) -> Result<Done> {
              BELAY_CHECK(read_fields(given, row, value));
              value.thread = filter.thread;
              return Done{};
            }));
  if (filter.every_version) return rows;
  if (!std::is_sorted(rows.begin(), rows.end(), is_before)) {
    std::sort(rows.begin(), rows.end(), is_before);
  }
  return without_replaced(std::move(rows));
}

Result<std::vector<TaskRow>> PostgresSnapshot::tasks(const TaskFilter& filter) {
  Query query("SELECT " + store::select_list<TaskRow>("t") + " FROM belay.tasks t");
  query.add(" WHERE tenant = ? AND run_id = ? AND namespace = ?", filter.tenant, filter.run,
            filter.checkpoint_ns);
  if (filter.superstep) query.add(" AND superstep = ?", *filter.superstep);
  query.add(" ORDER BY superstep, position").keep_plan();
  return all<TaskRow>(query, [&](const Rows& rows, int row, TaskRow& task) {
    task.run = filter.run;
    task.checkpoint_ns = filter.checkpoint_ns;
    return read_fields(rows, row, task);
  });
}

Result<std::vector<EffectRow>> PostgresSnapshot::effects(const EffectFilter& filter) {
  Query query("SELECT " + store::select_list<EffectRow>("e") + " FROM belay.effects e");
  query.add(" WHERE tenant = ?", filter.tenant);
  if (filter.run) query.add(" AND run_id = ?", *filter.run);
  if (filter.task) query.add(" AND task_id = ?", *filter.task);
  if (!filter.statuses.empty()) {
    Column wanted(Type::text);
    for (EffectStatus status : filter.statuses) wanted.add(status);
    query.add(" AND status = ANY(?)", wanted);
    // A constant condition, so that the planner uses the partial index of these.
    bool only_unfinished =
        std::all_of(filter.statuses.begin(), filter.statuses.end(), [](EffectStatus status) {
          return status == EffectStatus::intended || status == EffectStatus::uncertain;
        });
    if (only_unfinished) query.add(" AND status IN ('intended', 'uncertain')");
  }
  bool is_page = filter.run && filter.after;
  if (is_page) {
    query.add(" AND (task_id, name) > (?, ?)", filter.after->first, filter.after->second);
    query.add(" ORDER BY task_id, name");
  } else {
    // A run has few; "+ 0" prevents the planner from scanning all of the tenant's in order.
    query.add(filter.run ? " ORDER BY effect_number + 0" : " ORDER BY effect_number");
  }
  query.add(" LIMIT ?", filter.limit);
  if (filter.run) query.keep_plan();
  return all<EffectRow>(query, read_fields<EffectRow>);
}

Result<std::vector<OutboxRow>> PostgresSnapshot::outbox(const OutboxFilter& filter) {
  Query query(filter.first_of_each_run ? "SELECT DISTINCT ON (run_id)" : "SELECT");
  query.add(" " + store::select_list<OutboxRow>(
                      "o", {{"envelope", filter.without_body ? "''::bytea" : "o.envelope"}}));
  query.add(" FROM belay.outbox o");
  query.add(" WHERE tenant = ?", filter.tenant);
  if (filter.run) query.add(" AND run_id = ?", *filter.run);
  if (filter.due_by) query.add(" AND status = 'waiting' AND due_at <= ?", *filter.due_by);
  if (filter.without_delivered) query.add(" AND status <> 'delivered'");
  if (filter.user) {
    query.add(
        " AND run_id IN (SELECT s.run_id FROM belay.run_starts s WHERE s.tenant = ?"
        " AND s.user_id = ?)",
        filter.tenant, *filter.user);
  }
  add_texts(query, " AND topic = ANY(?)", filter.topics, text_itself);
  if (filter.first_of_each_run) {
    query.add(" ORDER BY run_id, message_number");
  } else if (filter.run && filter.after) {
    query.add(" AND (seq, message_index) > (?, ?)", filter.after->first, filter.after->second);
    query.add(" ORDER BY seq, message_index");
  } else {
    // A run has few, and few are due; "+ 0" prevents the planner from scanning all in order.
    bool are_few = filter.run || filter.due_by;
    query.add(are_few ? " ORDER BY message_number + 0" : " ORDER BY message_number");
  }
  query.add(" LIMIT ?", filter.limit);
  if (filter.run) query.keep_plan();
  return all<OutboxRow>(query, read_fields<OutboxRow>);
}

Result<std::vector<BlobRow>> PostgresSnapshot::blobs(const TenantId& tenant,
                                                     const std::vector<Digest>& ids) {
  if (ids.empty()) return std::vector<BlobRow>();
  Column wanted(Type::bytes);
  for (const Digest& id : ids) wanted.add(id);
  Query query("SELECT b.blob_id, b.envelope");
  query.add(
      " FROM unnest(?) WITH ORDINALITY AS i (id, position)"
      " JOIN belay.blobs b ON b.tenant = ? AND b.blob_id = i.id ORDER BY i.position",
      wanted, tenant);
  query.keep_plan();
  return all<BlobRow>(query, [](const Rows& rows, int row, BlobRow& blob) -> Result<Done> {
    blob.id = rows.digest(row, 0);
    blob.envelope = rows.text(row, 1);
    return Done{};
  });
}

Result<std::vector<BlobUse>> PostgresSnapshot::blob_uses(const TenantId& tenant,
                                                         const Digest& after) {
  Query query(
      "SELECT b.blob_id, p.put_number FROM belay.blobs b"
      " JOIN belay.blob_puts p ON p.tenant = b.tenant AND p.blob_id = b.blob_id");
  query.add(" WHERE b.tenant = ? AND b.blob_id > ? ORDER BY b.blob_id LIMIT ?", tenant, after,
            limits::page_rows_max);
  return all<BlobUse>(query, [](const Rows& rows, int row, BlobUse& use) -> Result<Done> {
    use.id = rows.digest(row, 0);
    use.last_put = rows.natural(row, 1);
    return Done{};
  });
}

Result<std::vector<StoredEnvelope>> PostgresSnapshot::envelopes(const EnvelopeFilter& filter) {
  return list_envelopes([this](const Query& query) { return ask(query); }, filter);
}

}  // namespace belay::postgres
