#include "store/postgres/prune.h"

#include <array>

namespace belay::postgres {
namespace {

// The first checkpoint that remains of a run.
struct Anchor {
  std::uint64_t seq = 0;
  std::uint64_t state_seq = 0;
  std::int64_t superstep = 0;
};

// The properties of a run and of its thread that pruning depends on.
struct Found {
  RunStatus status = RunStatus::running;
  std::string thread;
  bool preserve = false;
  bool has_waiting_message = false;
  std::optional<Anchor> anchor;  // nullopt if the checkpoint was already pruned
  std::int64_t ordinal = 0;
  bool is_oldest = false;
  bool is_newest = false;  // of those that have started: only such runs have a state
  bool is_only = false;
  bool is_thread_busy = false;            // another run of the thread has not ended
  std::int64_t oldest_other_ordinal = 0;  // of the oldest other run of the thread
};

// $1 tenant, $2 run, $3 the seq before which commits are pruned. If the commit at $3 is partway
// through a superstep, its state is that of state_seq and the pending writes since: the chain must
// then begin at the checkpoint of state_seq.
constexpr std::string_view find_statement =
    "SELECT r.status, r.thread_id, t.preserve,"
    " EXISTS (SELECT 1 FROM belay.outbox o WHERE o.tenant = r.tenant AND o.run_id = r.run_id"
    "   AND o.status = 'waiting'), a.seq, a.state_seq, a.superstep, s.ordinal,"
    " NOT EXISTS (SELECT 1 FROM belay.runs o WHERE o.tenant = r.tenant"
    "   AND o.thread_id = r.thread_id AND o.run_number < r.run_number),"
    " NOT EXISTS (SELECT 1 FROM belay.runs o WHERE o.tenant = r.tenant"
    "   AND o.thread_id = r.thread_id AND o.run_number > r.run_number AND o.node <> ''),"
    " EXISTS (SELECT 1 FROM belay.runs o WHERE o.tenant = r.tenant"
    "   AND o.thread_id = r.thread_id AND o.run_number <> r.run_number"
    "   AND o.status IN ('queued', 'running', 'paused', 'quarantined')),"
    " (SELECT p.ordinal FROM belay.runs o"
    "   JOIN belay.run_starts p ON p.tenant = o.tenant AND p.run_id = o.run_id"
    "   WHERE o.tenant = r.tenant AND o.thread_id = r.thread_id"
    "   AND o.run_number <> r.run_number ORDER BY o.run_number LIMIT 1),"
    " NOT EXISTS (SELECT 1 FROM belay.runs o WHERE o.tenant = r.tenant"
    "   AND o.thread_id = r.thread_id AND o.run_number <> r.run_number)"
    " FROM belay.runs r"
    " JOIN belay.run_starts s ON s.tenant = r.tenant AND s.run_id = r.run_id"
    " JOIN belay.threads t ON t.tenant = r.tenant AND t.thread_id = r.thread_id"
    " LEFT JOIN belay.checkpoints c ON c.tenant = r.tenant AND c.run_id = r.run_id"
    "   AND c.namespace = '' AND c.seq = least($3, r.seq)"
    " LEFT JOIN belay.checkpoints a ON a.tenant = r.tenant AND a.run_id = r.run_id"
    "   AND a.namespace = '' AND a.seq = c.state_seq"
    " WHERE r.tenant = $1 AND r.run_id = $2";

Result<std::optional<Found>> find(Connection& connection, const TenantId& tenant,
                                  const PruneRun& prune) {
  Parameters names;
  names.add(std::string_view(tenant.text)).add(prune.run);
  connection.send("SELECT 1 FROM belay.runs WHERE tenant = $1 AND run_id = $2 FOR UPDATE", names);
  connection.send(
      "SELECT 1 FROM belay.threads WHERE tenant = $1 AND thread_id ="
      " (SELECT thread_id FROM belay.runs WHERE tenant = $1 AND run_id = $2) FOR UPDATE",
      names);
  // A separate statement after the locks: it sees the commits of the transactions that held them.
  names.add(prune.before_seq.value_or(0));
  connection.send(find_statement, names);
  BELAY_TRY(std::vector<Rows> given, connection.sync());
  const Rows& row = given.back();
  std::optional<Found> found;
  if (row.count() == 0) return found;
  found.emplace();
  auto status = store::enum_named<RunStatus>(row.view(0, 0));
  if (status) found->status = *status;  // an unknown status counts as running: not pruned
  found->thread = row.text(0, 1);
  found->preserve = row.boolean(0, 2);
  found->has_waiting_message = row.boolean(0, 3);
  if (!row.is_null(0, 4)) {
    found->anchor = Anchor{row.natural(0, 4), row.natural(0, 5), row.number(0, 6)};
  }
  found->ordinal = row.number(0, 7);
  found->is_oldest = row.boolean(0, 8);
  found->is_newest = row.boolean(0, 9);
  found->is_thread_busy = row.boolean(0, 10);
  found->oldest_other_ordinal = row.number(0, 11);
  found->is_only = row.boolean(0, 12);
  return found;
}

// Deletes the values of a thread's state that no state from `at` on needs: see forget_values().
void forget_thread_values(Connection& connection, const TenantId& tenant, const std::string& thread,
                          std::uint64_t at) {
  Parameters names;
  names.add(std::string_view(tenant.text)).add(std::string_view(thread)).add(at);
  connection.send(
      "DELETE FROM belay.thread_values WHERE tenant = $1 AND thread_id = $2"
      " AND seq <= $3 AND kind = 'reduce'",
      names);
  connection.send(
      "WITH whole AS (SELECT DISTINCT ON (channel) channel, seq, value_index"
      "   FROM belay.thread_values WHERE tenant = $1 AND thread_id = $2"
      "   AND seq <= $3 AND kind IS NULL ORDER BY channel, seq DESC, value_index DESC)"
      " DELETE FROM belay.thread_values v USING whole w WHERE v.tenant = $1 AND v.thread_id = $2"
      " AND v.channel = w.channel AND (v.seq, v.value_index) < (w.seq, w.value_index)",
      names);
}

// Deletes a thread without runs; otherwise the values of its state that no other run needs. If the
// run was the newest, the thread gets the state that it had before.
void leave_thread(Connection& connection, const TenantId& tenant, const Found& run) {
  Parameters names;
  names.add(std::string_view(tenant.text)).add(std::string_view(run.thread));
  if (run.is_only) {
    connection.send("DELETE FROM belay.thread_values WHERE tenant = $1 AND thread_id = $2", names);
    connection.send("DELETE FROM belay.threads WHERE tenant = $1 AND thread_id = $2", names);
  } else if (!run.is_newest) {
    forget_thread_values(connection, tenant, run.thread, value_seq(run.oldest_other_ordinal, 0));
  } else if (run.ordinal > 0) {
    names.add(value_seq(run.ordinal, 0)).add(value_seq(run.ordinal + 1, 0));
    connection.send(
        "DELETE FROM belay.thread_values WHERE tenant = $1 AND thread_id = $2"
        " AND seq > $3 AND seq < $4",
        names);
  }
}

void forget_run(Connection& connection, const TenantId& tenant, const RunId& run,
                const Found& found) {
  static constexpr std::array<std::string_view, 10> statements{
      "DELETE FROM belay.checkpoints WHERE tenant = $1 AND run_id = $2",
      "DELETE FROM belay.channel_values WHERE tenant = $1 AND run_id = $2",
      "DELETE FROM belay.events WHERE tenant = $1 AND run_id = $2",
      "DELETE FROM belay.approvals WHERE tenant = $1 AND run_id = $2",
      "DELETE FROM belay.tasks WHERE tenant = $1 AND run_id = $2",
      "DELETE FROM belay.effects WHERE tenant = $1 AND run_id = $2",
      "DELETE FROM belay.outbox WHERE tenant = $1 AND run_id = $2",
      // Records remain, and no longer refer to a run.
      "UPDATE belay.records SET run_id = NULL, seq = 0 WHERE tenant = $1 AND run_id = $2",
      "DELETE FROM belay.run_starts WHERE tenant = $1 AND run_id = $2",
      "DELETE FROM belay.runs WHERE tenant = $1 AND run_id = $2"};
  Parameters names;
  names.add(std::string_view(tenant.text)).add(run);
  for (std::string_view sql : statements) connection.send(sql, names);
  leave_thread(connection, tenant, found);
}

// Deletes the values that no state from the anchor's on needs: those before a channel's newest
// `set` up to it, and operands of reducers that have been combined.
void forget_values(Connection& connection, const Parameters& names_and_state_seq) {
  connection.send(
      "DELETE FROM belay.channel_values WHERE tenant = $1 AND run_id = $2 AND namespace = ''"
      " AND seq <= $3 AND kind = 'reduce'",
      names_and_state_seq);
  connection.send(
      "WITH whole AS (SELECT DISTINCT ON (channel) channel, seq, value_index"
      "   FROM belay.channel_values WHERE tenant = $1 AND run_id = $2 AND namespace = ''"
      "   AND seq <= $3 AND kind IS NULL ORDER BY channel, seq DESC, value_index DESC)"
      " DELETE FROM belay.channel_values v USING whole w WHERE v.tenant = $1 AND v.run_id = $2"
      " AND v.namespace = '' AND v.channel = w.channel"
      " AND (v.seq, v.value_index) < (w.seq, w.value_index)",
      names_and_state_seq);
}

void forget_before(Connection& connection, const TenantId& tenant, const RunId& run,
                   const Found& found) {
  const Anchor& anchor = *found.anchor;
  Parameters names;
  names.add(std::string_view(tenant.text)).add(run);
  Parameters by_seq = names;
  by_seq.add(anchor.seq);
  connection.send(
      "DELETE FROM belay.checkpoints WHERE tenant = $1 AND run_id = $2 AND namespace = ''"
      " AND seq < $3",
      by_seq);
  connection.send("DELETE FROM belay.events WHERE tenant = $1 AND run_id = $2 AND seq < $3",
                  by_seq);
  Parameters by_superstep = names;
  by_superstep.add(anchor.superstep);
  connection.send(
      "DELETE FROM belay.tasks WHERE tenant = $1 AND run_id = $2 AND namespace = ''"
      " AND superstep < $3",
      by_superstep);
  if (found.ordinal == 0) {
    forget_values(connection, names.add(anchor.state_seq));
  } else if (found.is_oldest) {
    // The states of earlier runs would need the values before this run, too.
    std::uint64_t at = value_seq(found.ordinal, anchor.state_seq);
    forget_thread_values(connection, tenant, found.thread, at);
  }
}

}  // namespace

Result<Done> prune(Connection& connection, const TenantId& tenant, const PruneRun& prune) {
  BELAY_TRY(std::optional<Found> found, find(connection, tenant, prune));
  if (!found || found->preserve) return Done{};
  if (prune.before_seq) {
    bool goes_on = found->status == RunStatus::queued || found->status == RunStatus::running;
    if (!goes_on && found->anchor) forget_before(connection, tenant, prune.run, *found);
    return Done{};
  }
  bool have_all_ended = is_final(found->status) && !found->is_thread_busy;
  if (!have_all_ended || found->has_waiting_message) return Done{};
  forget_run(connection, tenant, prune.run, *found);
  return Done{};
}

}  // namespace belay::postgres
