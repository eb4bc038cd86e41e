// CommitWriter: the versions that records must have.

#include <algorithm>

#include "store/postgres/commit_writer.h"
#include "store/record_version.h"

namespace belay::postgres {
namespace {

// Queues the statements that lock the record; the last one selects it. If it must not exist,
// inserts it without contents: another transaction that inserts the same record waits, and this one
// does not overwrite it. The final row replaces it. Returns the number of statements.
std::size_t queue_lock(Connection& connection, const TenantId& tenant, const RecordPut& put) {
  Parameters key;
  key.add(tenant.text).add(put.collection).add(put.user.text).add(put.key);
  bool must_be_new = *put.expected_version == 0;
  if (must_be_new) {
    connection.send(
        "INSERT INTO belay.records (tenant, collection, user_id, key, envelope, seq, updated_at,"
        " version) VALUES ($1, $2, $3, $4, '', 0, now(), 0) ON CONFLICT DO NOTHING",
        key);
  }
  connection.send(
      "SELECT version, envelope FROM belay.records WHERE tenant = $1"
      " AND collection = $2 AND user_id = $3 AND key = $4"
      " FOR NO KEY UPDATE",
      key);
  return must_be_new ? 2 : 1;
}

}  // namespace

// In the order of the keys, so that two commits do not wait for each other. All statements are one
// round trip.
Result<std::optional<CommitOutcome>> CommitWriter::outcome_of_versions(const Commit& commit,
                                                                       const CommitRows& rows) {
  std::vector<const RecordPut*> puts;
  for (const RecordPut& put : rows.records) {
    if (put.expected_version) puts.push_back(&put);
  }
  std::sort(puts.begin(), puts.end(), [](const RecordPut* a, const RecordPut* b) {
    return std::tie(a->collection, a->user, a->key) < std::tie(b->collection, b->user, b->key);
  });
  if (puts.empty()) return std::optional<CommitOutcome>();
  std::vector<std::size_t> statements;
  for (const RecordPut* put : puts) {
    statements.push_back(queue_lock(connection_, commit.tenant, *put));
  }
  BELAY_TRY(std::vector<Rows> results, connection_.sync());
  bool is_changed = false;
  bool all_own = true;
  // From the end: the first results can be those of statements that were queued before.
  std::size_t end = results.size();
  for (std::size_t i = puts.size(); i-- > 0;) {
    const Rows& stored = results[end - 1];
    end -= statements[i];
    bool exists = stored.count() == 1;
    std::uint64_t version = exists ? stored.natural(0, 0) : 0;
    is_changed = is_changed || version != *puts[i]->expected_version;
    all_own = all_own && exists && store::is_own_write(*puts[i], version, stored.text(0, 1));
  }
  if (!is_changed) return std::optional<CommitOutcome>();
  bool was_applied = all_own && !commit.run_guard;
  return std::optional(was_applied ? CommitOutcome::applied : CommitOutcome::record_changed);
}

}  // namespace belay::postgres
