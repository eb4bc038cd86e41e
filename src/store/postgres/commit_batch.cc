#include "store/postgres/commit_batch.h"

#include <algorithm>

#include "store/postgres/concurrency.h"
#include "store/postgres/row_batch.h"

namespace belay::postgres {
namespace {

constexpr std::string_view move_statement =
    "WITH moved AS (UPDATE belay.runs r SET status = u.status, reason = u.reason,"
    " outcome = u.outcome, error_code = u.error_code, error = u.error, seq = u.seq,"
    " epoch = u.epoch, session_id = u.session_id, checkpoint_id = u.checkpoint_id, node = u.node,"
    " retry_count = u.retry_count, worked_ms = u.worked_ms, updated_at = u.updated_at,"
    " due_at = u.due_at, lost_claims = u.lost_claims, seal = u.seal"
    " FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,"
    " $19, $20) AS u (tenant, run_id, guard_epoch, guard_seq, status, reason, outcome, error_code,"
    " error, seq, epoch, session_id, checkpoint_id, node, retry_count, worked_ms, updated_at,"
    " due_at, lost_claims, seal)"
    " WHERE r.tenant = u.tenant AND r.run_id = u.run_id AND r.epoch = u.guard_epoch"
    " AND r.seq = u.guard_seq RETURNING 1) SELECT 1 / (count(*) = $21)::int FROM moved";

// A pending write does not change its run's row, but locks it: a commit that changes the run waits
// until the pending write is durable, or the pending write is fenced by it.
constexpr std::string_view hold_statement =
    "SELECT 1 / (count(*) = $5)::int FROM (SELECT FROM unnest($1, $2, $3, $4)"
    " AS u (tenant, run_id, guard_epoch, guard_seq) JOIN belay.runs r ON r.tenant = u.tenant"
    " AND r.run_id = u.run_id AND r.epoch = u.guard_epoch AND r.seq = u.guard_seq"
    " FOR NO KEY UPDATE OF r) AS held";

// If a run does not exist yet, it counts as epoch 0 and seq 0, as in RunGuard.
constexpr std::string_view standing_statement =
    "SELECT coalesce(r.epoch, 0) = u.guard_epoch AND coalesce(r.seq, 0) = u.guard_seq"
    " FROM unnest($1, $2, $3, $4) WITH ORDINALITY AS u (tenant, run_id, guard_epoch, guard_seq, n)"
    " LEFT JOIN belay.runs r ON r.tenant = u.tenant AND r.run_id = u.run_id ORDER BY u.n";

RunId run_of(const Commit& commit) {
  return commit.rows.run ? commit.rows.run->run : commit.run_guard->pending_for;
}

bool is_first(const Commit& commit) {
  return commit.run_guard->seq == 0 && commit.run_guard->epoch == 0;
}

}  // namespace

bool fits_together(const Commit& commit) {
  if (!commit.run_guard || commit.imports || commit.approval_guard || commit.if_expired)
    return false;
  // The guarded thread is locked before its newest run is read.
  if (commit.thread_guard || !commit.require_open.empty()) return false;
  // The versions of records are compared before anything is written.
  bool has_versions = std::any_of(commit.rows.records.begin(), commit.rows.records.end(),
                                  [](const RecordPut& put) { return put.expected_version; });
  if (has_versions) return false;
  bool is_pending = !commit.run_guard->pending_for.is_null();
  if (!is_pending) return true;
  // If an earlier try has opened an approval, it must not be inserted again: that needs a read
  // first (CommitWriter::without_asked). Records have the time of the transaction.
  return commit.rows.opened.empty() && commit.rows.records.empty();
}

void begin_writing(Connection& connection, std::chrono::milliseconds lock_patience) {
  connection.send("BEGIN ISOLATION LEVEL READ COMMITTED");
  connection.send("SET LOCAL lock_timeout = " + std::to_string(lock_patience.count()));
}

void end_silent_transactions(Connection& connection, std::chrono::milliseconds silence) {
  // Selects by `wait_event`, not by `state`: that is "active" within a pipeline even when the
  // server waits for its client.
  Parameters parameters;
  parameters.add(std::int64_t{silence.count()});
  (void)connection.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
      " AND usename = current_user AND application_name = current_setting('application_name')"
      " AND pid <> pg_backend_pid() AND xact_start IS NOT NULL AND wait_event = 'ClientRead'"
      " AND state_change < clock_timestamp() - $1 * interval '1 millisecond'",
      parameters);
}

TogetherAnswer commit_together(Connection& connection, const std::vector<const Commit*>& commits,
                               std::chrono::milliseconds lock_patience) {
  using enum Type;
  Table moved(move_statement,
              {text,   uuid, number, number, text,   text,   text,    text,    text,   number,
               number, uuid, uuid,   text,   number, number, instant, instant, number, bytes});
  Table held(hold_statement, {text, uuid, number, number});
  RowBatch rows;
  ConcurrencyChecks places;
  for (const Commit* commit : commits) {
    const RunGuard& guard = *commit->run_guard;
    if (!guard.pending_for.is_null()) {
      held.add(commit->tenant.text, guard.pending_for, guard.epoch, guard.seq);
    } else if (is_first(*commit)) {
      if (commit->rows.thread) rows.add_thread(*commit->rows.thread);
      rows.add_run(*commit->rows.run);
      rows.add_start(*commit->rows.run);
    } else {
      const RunRow& run = *commit->rows.run;
      moved.add(run.tenant.text, run.run, guard.epoch, guard.seq, run.status, run.reason,
                run.outcome, run.error_code, run.error, run.seq, run.epoch, or_null(run.session),
                run.checkpoint, run.node, run.retry_count, run.worked_ms, run.updated_at,
                or_null(run.due_at), run.lost_claims, run.seal);
    }
    if (commit->rows.run) places.add(*commit);
    rows.add_children(*commit, commit->rows);
  }
  // Runs are locked first, advisory locks of concurrency limits last (commit_writer.h). The limits
  // are counted when the runs of the batch are already `running` within this transaction.
  begin_writing(connection, lock_patience);
  held.send_with_count(connection);
  moved.send_with_count(connection);
  rows.send(connection);
  places.send(connection);
  connection.send("COMMIT");
  auto written = connection.sync();
  if (written.ok()) return {};
  Error failed = std::move(written).error();
  TogetherAnswer answer{Together::refused, std::move(failed)};
  // If the connection is lost, it is unknown whether the server received and executed COMMIT,
  // unless it has rejected a write (25006).
  if (connection.is_lost()) {
    answer.outcome = connection.takes_no_writes() ? Together::repeat : Together::lost;
    return answer;
  }
  if (connection.state() == state_of_guard) answer.outcome = Together::a_guard;
  if (connection.is_retryable()) answer.outcome = Together::repeat;
  connection.roll_back();
  return answer;
}

Result<std::vector<bool>> standing(Connection& connection,
                                   const std::vector<const Commit*>& commits) {
  using enum Type;
  Table asked(standing_statement, {text, uuid, number, number});
  for (const Commit* commit : commits) {
    asked.add(commit->tenant.text, run_of(*commit), commit->run_guard->epoch,
              commit->run_guard->seq);
  }
  asked.send(connection);
  BELAY_TRY(std::vector<Rows> given, connection.sync());
  std::vector<bool> stands;
  for (int row = 0; row < given.front().count(); ++row) {
    stands.push_back(given.front().boolean(row, 0));
  }
  return stands;
}

}  // namespace belay::postgres
