// Statements of CommitWriter: records.

#include "store/record_version.h"
#include "store/sqlite/commit_writer.h"
#include "store/sqlite/record_index.h"

namespace belay::sqlite {

Result<Done> CommitWriter::put_records(const Place& place, const CommitRows& rows) {
  if (rows.records.empty()) return Done{};
  Instant updated_at = rows.run ? rows.run->updated_at : clock_.now();
  std::uint64_t seq = rows.run ? rows.run->seq : 0;
  for (const RecordPut& put : rows.records) {
    BELAY_TRY(std::uint64_t before, remove_record(place.tenant, put));
    if (put.envelope.empty()) continue;
    std::uint64_t version = store::next_version(before, updated_at);
    BELAY_CHECK(put_record(place, put, seq, updated_at, version));
  }
  return Done{};
}

Result<Done> CommitWriter::put_record(const Place& place, const RecordPut& put, std::uint64_t seq,
                                      Instant updated_at, std::uint64_t version) {
  std::string indexed = text_of_index(put.indexed);
  BELAY_TRY(Statement row,
            connection_.prepare("INSERT INTO records (tenant_id, collection, user_id, key,"
                                " envelope, indexed, run_number, seq, updated_at, seal, version,"
                                " expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  row.bind(place.tenant).bind(put.collection).bind(put.user.text).bind(put.key);
  row.bind_blob(put.envelope).bind(indexed);
  place.run == 0 ? row.bind_null() : row.bind(place.run);
  row.bind(seq).bind(updated_at);
  bind_seal(row, put.seal).bind(version);
  put.expires_at == Instant() ? row.bind_null() : row.bind(put.expires_at);
  BELAY_CHECK(connection_.run(std::move(row)));
  return put_index(connection_, place.tenant, put);
}

Result<std::optional<CommitOutcome>> CommitWriter::outcome_of_versions(const Commit& commit,
                                                                       const Place& place,
                                                                       const CommitRows& rows) {
  bool is_changed = false;
  bool all_own = true;
  for (const RecordPut& put : rows.records) {
    if (!put.expected_version) continue;
    BELAY_TRY(Statement row,
              connection_.prepare("SELECT version, envelope FROM records WHERE tenant_id = ?"
                                  " AND collection = ? AND user_id = ? AND key = ?"));
    row.bind(place.tenant).bind(put.collection).bind(put.user.text).bind(put.key);
    Statement::Step step = row.step();
    if (step == Statement::Step::failed) return connection_.error();
    bool exists = step == Statement::Step::row;
    std::uint64_t version = exists ? row.natural(0) : 0;
    is_changed = is_changed || version != *put.expected_version;
    all_own = all_own && exists && store::is_own_write(put, version, row.text(1));
  }
  if (!is_changed) return std::optional<CommitOutcome>();
  bool was_applied = all_own && !commit.run_guard;
  return std::optional(was_applied ? CommitOutcome::applied : CommitOutcome::record_changed);
}

Result<std::uint64_t> CommitWriter::remove_record(std::int64_t tenant, const RecordPut& put) {
  BELAY_TRY(Statement old,
            connection_.prepare("DELETE FROM records WHERE tenant_id = ? AND collection = ?"
                                " AND user_id = ? AND key = ? RETURNING indexed, version"));
  old.bind(tenant).bind(put.collection).bind(put.user.text).bind(put.key);
  Statement::Step step = old.step();
  if (step == Statement::Step::failed) return connection_.error();
  if (step == Statement::Step::done) return std::uint64_t{0};
  std::string indexed = old.text(0);
  std::uint64_t version = old.natural(1);
  if (old.step() != Statement::Step::done) return connection_.error();
  BELAY_CHECK(forget_index(connection_, tenant, put, indexed));
  return version;
}

}  // namespace belay::sqlite
