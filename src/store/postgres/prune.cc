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

// The properties of a run that pruning depends on.
struct Found {
  RunStatus status = RunStatus::running;
  std::string thread;
  bool preserve = false;
  bool has_waiting_message = false;
  std::optional<Anchor> anchor;  // nullopt if the checkpoint was already pruned
};

// $1 tenant, $2 run, $3 the seq before which commits are pruned. If the commit at $3 is partway
// through a superstep, its state is that of state_seq and the pending writes since: the chain must
// then begin at the checkpoint of state_seq.
constexpr std::string_view find_statement =
    "SELECT r.status, r.thread_id, t.preserve,"
    " EXISTS (SELECT 1 FROM belay.outbox o WHERE o.tenant = r.tenant AND o.run_id = r.run_id"
    "   AND o.status = 'waiting'), a.seq, a.state_seq, a.superstep"
    " FROM belay.runs r"
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
  return found;
}

void forget_run(Connection& connection, const TenantId& tenant, const RunId& run,
                const std::string& thread) {
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
  Parameters left;
  left.add(std::string_view(tenant.text)).add(std::string_view(thread));
  connection.send(
      "DELETE FROM belay.threads WHERE tenant = $1 AND thread_id = $2 AND NOT EXISTS"
      " (SELECT 1 FROM belay.runs r WHERE r.tenant = $1 AND r.thread_id = $2)",
      left);
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
                   const Anchor& anchor) {
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
  forget_values(connection, names.add(anchor.state_seq));
}

}  // namespace

Result<Done> prune(Connection& connection, const TenantId& tenant, const PruneRun& prune) {
  BELAY_TRY(std::optional<Found> found, find(connection, tenant, prune));
  if (!found || found->preserve) return Done{};
  if (prune.before_seq) {
    bool goes_on = found->status == RunStatus::queued || found->status == RunStatus::running;
    if (!goes_on && found->anchor) forget_before(connection, tenant, prune.run, *found->anchor);
    return Done{};
  }
  if (!is_final(found->status) || found->has_waiting_message) return Done{};
  forget_run(connection, tenant, prune.run, found->thread);
  return Done{};
}

}  // namespace belay::postgres
