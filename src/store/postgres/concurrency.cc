#include "store/postgres/concurrency.h"

namespace belay::postgres {
namespace {

// The run `r` is counted with the run `mine`: it has the same user, key or queue; for scope
// `tenant`, every run of the tenant is counted.
constexpr std::string_view same_group =
    " (CASE u.place_of WHEN 'user' THEN (SELECT s.user_id = t.user_id FROM belay.run_starts s,"
    " belay.run_starts t WHERE s.tenant = r.tenant AND s.run_id = r.run_id"
    " AND t.tenant = r.tenant AND t.run_id = mine.run_id)"
    " WHEN 'key' THEN r.concurrency_key = mine.concurrency_key"
    " WHEN 'queue' THEN r.queue = mine.queue ELSE true END)";

// The runs of the batch are already running and are counted themselves: hence <=, not <.
std::string check_statement() {
  return "SELECT 1 / coalesce(bool_and(coalesce((SELECT count(*) FROM belay.runs r"
         " WHERE r.tenant = mine.tenant AND r.status = 'running' AND" +
         std::string(same_group) +
         ") <= u.place_limit, true)), true)::int FROM unnest($1, $2, $3, $4)"
         " AS u (tenant, run_id, place_of, place_limit)"
         " JOIN belay.runs mine ON mine.tenant = u.tenant AND mine.run_id = u.run_id"
         " WHERE u.place_of <> 'key' OR mine.concurrency_key <> ''";
}

const std::string& check_of_batch() {
  static const std::string statement = check_statement();
  return statement;
}

// The advisory lock of a scope: 64 bits of a hash. Two scopes with the same number wait for each
// other, which has no other effect.
std::int64_t lock_of(const Commit& commit, ConcurrencyScope of) {
  const RunRow& run = *commit.rows.run;
  std::string group = commit.tenant.text + '\n' + std::string(name_of(of)) + '\n';
  if (of == ConcurrencyScope::user) group += run.user.text;
  if (of == ConcurrencyScope::key) group += run.concurrency_key;
  if (of == ConcurrencyScope::queue) group += run.queue;
  Digest digest = sha256(group);
  std::uint64_t folded = 0;
  for (int i = 0; i < 8; ++i) folded = folded << 8 | digest[static_cast<std::size_t>(i)];
  return static_cast<std::int64_t>(folded);
}

void take_locks(Connection& connection, const std::set<std::int64_t>& locks) {
  // In the order of the numbers, in all transactions, so that these locks cannot deadlock.
  Column numbers(Type::number);
  for (std::int64_t each : locks) numbers.add(each);
  Parameters all;
  all.add(numbers);
  connection.send(
      "SELECT pg_advisory_xact_lock(u.n) FROM unnest($1) WITH ORDINALITY AS u (n, i)"
      " ORDER BY u.i",
      all);
}

}  // namespace

ConcurrencyChecks::ConcurrencyChecks()
    : groups_(check_of_batch(), {Type::text, Type::uuid, Type::text, Type::number}) {}

void ConcurrencyChecks::add(const Commit& commit) {
  if (commit.rows.run->status != RunStatus::running) return;
  for (const ConcurrencyGuard& guard : commit.concurrency) {
    locks_.insert(lock_of(commit, guard.scope));
    groups_.add(commit.tenant.text, commit.rows.run->run, name_of(guard.scope), guard.limit);
  }
}

void ConcurrencyChecks::send(Connection& connection) const {
  if (groups_.count() == 0) return;
  take_locks(connection, locks_);
  groups_.send(connection);
}

Result<bool> has_capacity(Connection& connection, const Commit& commit) {
  const RunRow& run = *commit.rows.run;
  std::set<std::int64_t> locks;
  for (const ConcurrencyGuard& guard : commit.concurrency)
    locks.insert(lock_of(commit, guard.scope));
  take_locks(connection, locks);
  BELAY_CHECK(connection.sync());
  for (const ConcurrencyGuard& guard : commit.concurrency) {
    if (guard.scope == ConcurrencyScope::key && run.concurrency_key.empty()) continue;
    Parameters group;
    group.add(commit.tenant.text).add(run.run);
    std::string sql =
        "SELECT count(*) FROM belay.runs r WHERE r.tenant = $1 AND r.status = 'running'"
        " AND r.run_id <> $2";
    if (guard.scope == ConcurrencyScope::user) {
      sql +=
          " AND (SELECT s.user_id FROM belay.run_starts s WHERE s.tenant = r.tenant"
          " AND s.run_id = r.run_id) = $3";
      group.add(run.user.text);
    } else if (guard.scope == ConcurrencyScope::key) {
      sql += " AND r.concurrency_key = $3";
      group.add(run.concurrency_key);
    } else if (guard.scope == ConcurrencyScope::queue) {
      sql += " AND r.queue = $3";
      group.add(run.queue);
    }
    BELAY_TRY(Rows counted, connection.query(sql, group));
    if (counted.natural(0, 0) >= guard.limit) return false;
  }
  return true;
}

}  // namespace belay::postgres
