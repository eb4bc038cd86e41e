#include "store/postgres/prune.h"

#include <array>

namespace belay::postgres {
namespace {

// Where the chain of a run that goes on is to begin.
struct Anchor {
  std::uint64_t seq = 0;
  std::uint64_t state_seq = 0;
  std::int64_t superstep = 0;
};

// What pruning must know of a run.
struct Found {
  RunStatus status = RunStatus::running;
  std::string thread;
  bool preserve = false;
  bool has_waiting_message = false;
  std::optional<Anchor> anchor;  // nothing: an earlier pruning went further
};

// $1 the tenant, $2 the run, $3 the seq to go before. In the midst of a superstep a checkpoint says
// no more than which commit chose the tasks, none before its state_seq: so the chain begins there.
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
  // A statement of its own: it sees what was done by those that held the locks before.
  names.add(prune.before_seq.value_or(0));
  connection.send(find_statement, names);
  BELAY_TRY(std::vector<Rows> given, connection.sync());
  const Rows& row = given.back();
  std::optional<Found> found;
  if (row.count() == 0) return found;
  found.emplace();
  auto status = store::enum_named<RunStatus>(row.view(0, 0));
  if (status) found->status = *status;  // an unknown one is taken for one that goes on
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
      // An agent's own rows stay, and no longer name a run.
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

// What no state from the anchor's on needs: rows before a channel's newest `set` up to it, and
// operands of reducers that have been reduced.
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
