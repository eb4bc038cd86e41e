#pragma once
// service/wait_facts.h - reads what is stored about a run that does not advance: the facts of
// why().

#include <functional>
#include <map>
#include <memory>

#include "load/declared_programs.h"
#include "service/why.h"

namespace belay {

// All of it must outlive the calls.
struct WaitParts {
  Store& store;
  Clock& clock;
  std::shared_ptr<const GraphRegistry> graphs;  // that this process has
  ConcurrencyLimits limits = {};
  bool works = false;      // this process claims queued runs
  SessionId session = {};  // of this process
  std::string call = "belay";
  // The nodes of a run in this process that wait for a slot, each with its dependency. May be null.
  std::function<std::vector<std::pair<std::string, std::string>>(const RunId&)> slot_waits =
      nullptr;
  // May be null, and may return nullopt.
  std::function<std::optional<std::int64_t>(const SessionId&)> process_of = nullptr;
};

// Reads the facts of one run, all but those about sessions, from one snapshot.
Result<WaitFacts> wait_facts(Snapshot& view, const GraphRegistry& graphs,
                             const OtherPrograms& others, const ConcurrencyLimits& limits,
                             Instant now, RunRow run);

// Returns the document of `belay why --json`: for `run`, or for the thread's current run.
Task<Result<Value>> explain_wait(WaitParts parts, TenantId tenant, ThreadId thread,
                                 std::optional<RunId> run);

// Returns the numbers of unfinished runs, of one user or of all, by the first cause for which they
// wait: {"cause", "runs"}, ordered by cause. Counts the limits::list_rows_max newest runs of each
// status, and a run behind others in its queue as `next_poll`. Does not find damage: that would
// read the values of each run.
Task<Result<Value::Array>> count_waits(WaitParts parts, TenantId tenant,
                                       std::optional<UserId> user);

}  // namespace belay
