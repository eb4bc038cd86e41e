#include "service/held_by.h"

#include "service/find_run.h"
#include "service/thread_history.h"
#include "worker/run_hold.h"

namespace belay {
namespace {

struct FoundHold {
  std::string hold;
  std::vector<SessionRow> sessions;
};

Result<FoundHold> find_hold(Snapshot& view, const ConcurrencyLimits& limits, Instant now,
                            const RunRow& run) {
  FoundHold found;
  BELAY_TRY(std::optional<RunId> ahead, run_ahead_of(view, run));
  if (ahead) {
    found.hold = "waits for run " + short_id(*ahead) + " of this thread";
    return found;
  }
  BELAY_TRY(RunHolds holds, RunHolds::read(view, run.tenant, limits, now));
  found.hold = holds.of(run);
  if (!found.hold.empty()) return found;
  SessionFilter filter;
  BELAY_TRY(found.sessions, view.sessions(filter));
  return found;
}

}  // namespace

Task<Result<std::string>> held_by(WaitParts parts, RunRow run) {
  Instant now = parts.clock.now();
  std::string time = RunHolds::time_of(run, now);
  if (!time.empty()) co_return std::move(time);
  run.input.clear();
  std::function<Result<FoundHold>(Snapshot&)> reader = [run, limits = parts.limits,
                                                        now](Snapshot& view) {
    return find_hold(view, limits, now, run);
  };
  BELAY_CO_TRY(FoundHold found, co_await read<FoundHold>(parts.store, std::move(reader)));
  if (!found.hold.empty()) co_return std::move(found.hold);
  if (parts.works && parts.graphs->knows(run.graph)) co_return std::string();
  // The store does not record which graphs the other processes have.
  for (const SessionRow& each : found.sessions) {
    if (each.session == parts.session) continue;
    BELAY_CO_TRY(bool is_alive, parts.store.is_alive(each.session));
    if (is_alive) co_return std::string();
  }
  if (!parts.works) co_return std::string("no worker");
  co_return "no worker for graph \"" + run.graph + "\"";
}

}  // namespace belay
