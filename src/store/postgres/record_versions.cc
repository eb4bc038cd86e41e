// CommitWriter: the versions that records must have.

#include <algorithm>

#include "store/postgres/commit_writer.h"
#include "store/record_version.h"

namespace belay::postgres {
namespace {

// Locks the record. If it must not exist, inserts it without contents: another transaction that
// inserts the same record waits, and this one does not overwrite it. The final row replaces it.
Result<Rows> lock_record(Connection& connection, const TenantId& tenant, const RecordPut& put) {
  Parameters key;
  key.add(tenant.text).add(put.collection).add(put.user.text).add(put.key);
  if (*put.expected_version == 0) {
    BELAY_CHECK(connection.query(
        "INSERT INTO belay.records (tenant, collection, user_id, key, envelope, seq, updated_at,"
        " version) VALUES ($1, $2, $3, $4, '', 0, now(), 0) ON CONFLICT DO NOTHING",
        key));
  }
  return connection.query(
      "SELECT version, envelope FROM belay.records WHERE tenant = $1"
      " AND collection = $2 AND user_id = $3 AND key = $4"
      " FOR NO KEY UPDATE",
      key);
}

}  // namespace

// In the order of the keys, so that two commits do not wait for each other.
Result<std::optional<CommitOutcome>> CommitWriter::outcome_of_versions(const Commit& commit,
                                                                       const CommitRows& rows) {
  std::vector<const RecordPut*> puts;
  for (const RecordPut& put : rows.records) {
    if (put.expected_version) puts.push_back(&put);
  }
  std::sort(puts.begin(), puts.end(), [](const RecordPut* a, const RecordPut* b) {
    return std::tie(a->collection, a->user, a->key) < std::tie(b->collection, b->user, b->key);
  });
  bool is_changed = false;
  bool all_own = true;
  for (const RecordPut* put : puts) {
    BELAY_TRY(Rows stored, lock_record(connection_, commit.tenant, *put));
    bool exists = stored.count() == 1;
    std::uint64_t version = exists ? stored.natural(0, 0) : 0;
    is_changed = is_changed || version != *put->expected_version;
    all_own = all_own && exists && store::is_own_write(*put, version, stored.text(0, 1));
  }
  if (!is_changed) return std::optional<CommitOutcome>();
  bool was_applied = all_own && !commit.run_guard;
  return std::optional(was_applied ? CommitOutcome::applied : CommitOutcome::record_changed);
}

}  // namespace belay::postgres
