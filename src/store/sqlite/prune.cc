#include "store/sqlite/prune.h"

#include <array>

namespace belay::sqlite {
namespace {

// The properties of a run and of its thread that pruning depends on.
struct Found {
  RunStatus status = RunStatus::running;
  std::uint64_t seq = 0;
  std::int64_t thread = 0;
  bool preserve = false;
  bool has_waiting_message = false;
  std::int64_t ordinal = 0;
  bool is_oldest = false;
  bool is_newest = false;  // of those that have started: only such runs have a state
  bool is_only = false;
  bool is_thread_busy = false;            // another run of the thread has not ended
  std::int64_t oldest_other_ordinal = 0;  // of the oldest other run of the thread
};

Result<std::optional<Found>> find(Connection& connection, std::int64_t tenant, std::int64_t run) {
  std::optional<Found> found;
  BELAY_TRY(Statement row,
            connection.prepare("SELECT r.status, r.seq, r.thread_number, t.preserve,"
                               " EXISTS (SELECT 1 FROM outbox o WHERE o.tenant_id = r.tenant_id"
                               "   AND o.run_number = r.run_number AND o.status = 'waiting'),"
                               " s.ordinal,"
                               " NOT EXISTS (SELECT 1 FROM runs o WHERE o.tenant_id = r.tenant_id"
                               "   AND o.thread_number = r.thread_number"
                               "   AND o.run_number < r.run_number),"
                               " NOT EXISTS (SELECT 1 FROM runs o WHERE o.tenant_id = r.tenant_id"
                               "   AND o.thread_number = r.thread_number"
                               "   AND o.run_number > r.run_number AND o.node <> ''),"
                               " EXISTS (SELECT 1 FROM runs o WHERE o.tenant_id = r.tenant_id"
                               "   AND o.thread_number = r.thread_number"
                               "   AND o.run_number <> r.run_number AND o.status IN"
                               "   ('queued', 'running', 'paused', 'quarantined')),"
                               " (SELECT p.ordinal FROM runs o"
                               "   CROSS JOIN run_starts p ON p.run_number = o.run_number"
                               "   WHERE o.tenant_id = r.tenant_id"
                               "   AND o.thread_number = r.thread_number"
                               "   AND o.run_number <> r.run_number"
                               "   ORDER BY o.run_number LIMIT 1),"
                               " NOT EXISTS (SELECT 1 FROM runs o WHERE o.tenant_id = r.tenant_id"
                               "   AND o.thread_number = r.thread_number"
                               "   AND o.run_number <> r.run_number)"
                               " FROM runs r JOIN threads t ON t.thread_number = r.thread_number"
                               " JOIN run_starts s ON s.run_number = r.run_number"
                               " WHERE r.tenant_id = ? AND r.run_number = ?"));
  row.bind(tenant).bind(run);
  Statement::Step step = row.step();
  if (step == Statement::Step::failed) return connection.error();
  if (step == Statement::Step::done) return found;
  found.emplace();
  auto status = store::enum_named<RunStatus>(row.text(0));
  if (status) found->status = *status;  // an unknown status counts as running: not pruned
  found->seq = row.natural(1);
  found->thread = row.number(2);
  found->preserve = row.number(3) != 0;
  found->has_waiting_message = row.number(4) != 0;
  found->ordinal = row.number(5);
  found->is_oldest = row.number(6) != 0;
  found->is_newest = row.number(7) != 0;
  found->is_thread_busy = row.number(8) != 0;
  found->oldest_other_ordinal = row.number(9);
  found->is_only = row.number(10) != 0;
  return found;
}

// Deletes the values of a thread's state that no state from `at` on needs: see forget_values().
Result<Done> forget_thread_values(Connection& connection, std::int64_t tenant, std::int64_t thread,
                                  std::uint64_t at) {
  BELAY_TRY(Statement rows,
            connection.prepare(
                "WITH whole (channel, seq, value_index) AS MATERIALIZED"
                " (SELECT channel, seq, value_index FROM (SELECT channel, seq, value_index,"
                "   row_number() OVER (PARTITION BY channel ORDER BY seq DESC, value_index DESC)"
                "   AS place FROM thread_values WHERE tenant_id = ?1 AND thread_number = ?2"
                "   AND seq <= ?3 AND kind IS NULL) WHERE place = 1)"
                " DELETE FROM thread_values AS v WHERE v.tenant_id = ?1 AND v.thread_number = ?2"
                " AND v.seq <= ?3 AND (v.kind IS 'reduce' OR (v.seq, v.value_index) <"
                "   (SELECT w.seq, w.value_index FROM whole w WHERE w.channel = v.channel))"));
  rows.bind(tenant).bind(thread).bind(at);
  BELAY_CHECK(connection.run(std::move(rows)));
  return Done{};
}

// Deletes the values of a thread's state that the run has written: the thread gets the state that
// it had before.
Result<Done> forget_values_of(Connection& connection, std::int64_t tenant, const Found& run) {
  BELAY_TRY(Statement rows,
            connection.prepare("DELETE FROM thread_values WHERE tenant_id = ? AND thread_number = ?"
                               " AND seq > ? AND seq < ?"));
  rows.bind(tenant).bind(run.thread);
  rows.bind(value_seq(run.ordinal, 0)).bind(value_seq(run.ordinal + 1, 0));
  BELAY_CHECK(connection.run(std::move(rows)));
  return Done{};
}

// Deletes a thread without runs; otherwise the values of its state that no other run needs.
Result<Done> leave_thread(Connection& connection, std::int64_t tenant, const Found& run) {
  if (run.is_only) {
    static constexpr std::array<std::string_view, 2> statements{
        "DELETE FROM thread_values WHERE tenant_id = ? AND thread_number = ?",
        "DELETE FROM threads WHERE tenant_id = ? AND thread_number = ?"};
    for (std::string_view sql : statements) {
      BELAY_TRY(Statement rows, connection.prepare(sql));
      rows.bind(tenant).bind(run.thread);
      BELAY_CHECK(connection.run(std::move(rows)));
    }
    return Done{};
  }
  if (!run.is_newest) {
    std::uint64_t at = value_seq(run.oldest_other_ordinal, 0);
    return forget_thread_values(connection, tenant, run.thread, at);
  }
  return run.ordinal > 0 ? forget_values_of(connection, tenant, run) : Done{};
}

Result<Done> forget_run(Connection& connection, std::int64_t tenant, std::int64_t run,
                        const Found& found) {
  static constexpr std::array<std::string_view, 10> statements{
      "DELETE FROM checkpoints WHERE tenant_id = ? AND run_number = ?",
      "DELETE FROM channel_values WHERE tenant_id = ? AND run_number = ?",
      "DELETE FROM events WHERE tenant_id = ? AND run_number = ?",
      "DELETE FROM approvals WHERE tenant_id = ? AND run_number = ?",
      "DELETE FROM tasks WHERE tenant_id = ? AND run_number = ?",
      "DELETE FROM effects WHERE tenant_id = ? AND run_number = ?",
      "DELETE FROM outbox WHERE tenant_id = ? AND run_number = ?",
      // Records remain, and no longer refer to a run.
      "UPDATE records SET run_number = NULL, seq = 0 WHERE tenant_id = ? AND run_number = ?",
      "DELETE FROM run_starts WHERE ? > 0 AND run_number = ?",
      "DELETE FROM runs WHERE tenant_id = ? AND run_number = ?"};
  for (std::string_view sql : statements) {
    BELAY_TRY(Statement rows, connection.prepare(sql));
    rows.bind(tenant).bind(run);
    BELAY_CHECK(connection.run(std::move(rows)));
  }
  return leave_thread(connection, tenant, found);
}

// Deletes the values that no state from `state_seq` on needs: those before a channel's newest `set`
// up to it, and operands of reducers that have been combined.
Result<Done> forget_values(Connection& connection, std::int64_t tenant, std::int64_t run,
                           std::uint64_t state_seq) {
  BELAY_TRY(Statement rows,
            connection.prepare(
                "DELETE FROM channel_values AS v WHERE v.tenant_id = ?1 AND v.run_number = ?2"
                " AND v.namespace = '' AND v.seq <= ?3 AND (v.kind IS 'reduce'"
                " OR (v.seq, v.value_index) < (SELECT s.seq, s.value_index FROM channel_values s"
                "   WHERE s.tenant_id = ?1 AND s.run_number = ?2 AND s.namespace = ''"
                "   AND s.channel = v.channel AND s.seq <= ?3 AND s.kind IS NULL"
                "   ORDER BY s.seq DESC, s.value_index DESC LIMIT 1))"));
  rows.bind(tenant).bind(run).bind(state_seq);
  BELAY_CHECK(connection.run(std::move(rows)));
  return Done{};
}

// An empty parent_id means "the previous seq" (insert_checkpoint()). The first remaining checkpoint
// gets the id itself, because its predecessor is deleted.
Result<Done> keep_parent(Connection& connection, std::int64_t tenant, std::int64_t run,
                         std::uint64_t seq) {
  BELAY_TRY(Statement anchor,
            connection.prepare("UPDATE checkpoints SET parent_id = (SELECT p.checkpoint_id"
                               "   FROM checkpoints p WHERE p.tenant_id = ?1"
                               "   AND p.run_number = ?2 AND p.namespace = '' AND p.seq = ?3 - 1)"
                               " WHERE tenant_id = ?1 AND run_number = ?2 AND namespace = ''"
                               " AND seq = ?3 AND length(parent_id) = 0"));
  anchor.bind(tenant).bind(run).bind(seq);
  BELAY_CHECK(connection.run(std::move(anchor)));
  return Done{};
}

struct Anchor {
  std::uint64_t seq = 0;
  std::uint64_t state_seq = 0;
  std::int64_t superstep = 0;
};

// Returns nullopt if there is no such checkpoint: it was already pruned.
Result<std::optional<Anchor>> checkpoint_at(Connection& connection, std::int64_t tenant,
                                            std::int64_t run, std::uint64_t seq) {
  BELAY_TRY(Statement row,
            connection.prepare("SELECT coalesce(state_seq, seq), superstep FROM checkpoints"
                               " WHERE tenant_id = ? AND run_number = ? AND namespace = ''"
                               " AND seq = ?"));
  row.bind(tenant).bind(run).bind(seq);
  Statement::Step step = row.step();
  if (step == Statement::Step::failed) return connection.error();
  if (step == Statement::Step::done) return std::optional<Anchor>();
  return std::optional(Anchor{seq, row.natural(0), row.number(1)});
}

// If the commit is partway through a superstep, its state is that of state_seq and the pending
// writes since: the chain must then begin at the checkpoint of state_seq.
Result<std::optional<Anchor>> anchor_at(Connection& connection, std::int64_t tenant,
                                        std::int64_t run, std::uint64_t seq) {
  BELAY_TRY(std::optional<Anchor> anchor, checkpoint_at(connection, tenant, run, seq));
  if (!anchor || anchor->state_seq == seq) return anchor;
  return checkpoint_at(connection, tenant, run, anchor->state_seq);
}

Result<Done> forget_before(Connection& connection, std::int64_t tenant, std::int64_t run,
                           const Found& found, std::uint64_t before_seq) {
  BELAY_TRY(std::optional<Anchor> anchor, anchor_at(connection, tenant, run, before_seq));
  if (!anchor) return Done{};
  std::uint64_t first = anchor->seq;
  BELAY_CHECK(keep_parent(connection, tenant, run, first));
  static constexpr std::array<std::string_view, 2> by_seq{
      "DELETE FROM checkpoints WHERE tenant_id = ? AND run_number = ? AND namespace = ''"
      " AND seq < ?",
      "DELETE FROM events WHERE tenant_id = ? AND run_number = ? AND seq < ?"};
  for (std::string_view sql : by_seq) {
    BELAY_TRY(Statement rows, connection.prepare(sql));
    rows.bind(tenant).bind(run).bind(first);
    BELAY_CHECK(connection.run(std::move(rows)));
  }
  BELAY_TRY(Statement tasks,
            connection.prepare("DELETE FROM tasks WHERE tenant_id = ? AND run_number = ?"
                               " AND namespace = '' AND superstep < ?"));
  tasks.bind(tenant).bind(run).bind(anchor->superstep);
  BELAY_CHECK(connection.run(std::move(tasks)));
  if (found.ordinal == 0) return forget_values(connection, tenant, run, anchor->state_seq);
  // The states of earlier runs need the values before this run, too.
  if (!found.is_oldest) return Done{};
  return forget_thread_values(connection, tenant, found.thread,
                              value_seq(found.ordinal, anchor->state_seq));
}

}  // namespace

Result<Done> prune(Connection& connection, std::int64_t tenant, std::int64_t run,
                   const PruneRun& prune) {
  BELAY_TRY(std::optional<Found> found, find(connection, tenant, run));
  if (!found || found->preserve) return Done{};
  if (prune.before_seq) {
    bool goes_on = found->status == RunStatus::queued || found->status == RunStatus::running;
    if (goes_on) return Done{};
    std::uint64_t before = std::min(*prune.before_seq, found->seq);
    return forget_before(connection, tenant, run, *found, before);
  }
  bool have_all_ended = is_final(found->status) && !found->is_thread_busy;
  if (!have_all_ended || found->has_waiting_message) return Done{};
  return forget_run(connection, tenant, run, *found);
}

}  // namespace belay::sqlite
