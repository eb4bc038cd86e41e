#include "service/wait_facts.h"

#include <algorithm>

#include "base/in_quotes.h"
#include "belay/limits.h"
#include "engine/next_task.h"
#include "engine/restore.h"
#include "load/code_gone.h"
#include "load/run_loader.h"
#include "service/find_run.h"

namespace belay {
namespace {

using Phase = engine::NodeTask::Phase;

struct FoundFacts {
  WaitFacts facts;
  std::optional<WaitFacts> earlier;
  std::vector<SessionRow> sessions;
};

struct FoundCounts {
  std::vector<WaitFacts> runs;
  std::vector<SessionRow> sessions;
};

Result<std::vector<SessionRow>> all_sessions(Snapshot& view) {
  SessionFilter filter;
  return view.sessions(filter);
}

int attempts_max(const engine::Run& run, const GraphDefinition::Node& node) {
  if (node.retry.attempts <= 1) return node.retry.attempts;
  return run.options.max_retries.value_or(node.retry.attempts);
}

void add_tasks(const engine::Run& run, std::vector<WaitingTask>& tasks) {
  for (const engine::NodeTask& task : run.tasks) {
    if (task.phase == Phase::done) continue;
    if (task.phase == Phase::in_subgraph && task.inner) {
      add_tasks(*task.inner, tasks);
      continue;
    }
    WaitingTask& waiting = tasks.emplace_back();
    waiting.node = task.node->name;
    waiting.phase = task.phase;
    waiting.attempt = task.attempt;
    waiting.attempts_max = attempts_max(run, *task.node);
    waiting.due = task.due;
    if (task.previous_error) waiting.error = task.previous_error->message;
    waiting.interrupt = task.interrupt;
  }
}

// The run can be read only with its graph; without it, its rows say enough about a pause.
Result<Done> read_waiting_run(Snapshot& view, const GraphRegistry& graphs,
                              const OtherPrograms& others, WaitFacts& facts) {
  auto loaded = RunLoader::load(view, graphs, facts.run, std::nullopt);
  if (!loaded.ok() && loaded.error().code == ErrorCode::corrupt) {
    facts.damage = loaded.error().message;
    return Done{};
  }
  if (!loaded.ok()) return std::move(loaded).error();
  facts.approvals = std::move(loaded->approvals.rows);
  auto version = engine::version_of(loaded->stored);
  if (!version.ok()) {
    facts.damage = version.error().message;
    return Done{};
  }
  auto graph = graphs.for_version(facts.run.graph, *version);
  if (!graph.ok()) {
    if (others.might_continue(facts.run.graph, *version)) return Done{};
    facts.code_gone = graphs.knows(facts.run.graph)
                          ? graph.error().message
                          : "No live process is known that has the agent " +
                                in_quotes(facts.run.graph) + ". Start the program that has it.";
    return Done{};
  }
  auto materials = engine::materials_of(loaded->stored);
  auto refused = materials.ok() ? refusal_of(**graph, *materials) : std::nullopt;
  facts.refused_materials = std::move(refused).value_or("");
  auto run = engine::restore(**graph, std::move(loaded->stored));
  if (run.ok()) {
    add_tasks(*run, facts.tasks);
  } else if (run.error().code == ErrorCode::corrupt) {
    facts.damage = run.error().message;
  } else if (!others.has_undeclared && others.declared.empty()) {
    facts.code_gone = run.error().message;
  }
  return Done{};
}

// Counts the due runs that a worker claims before this one.
Result<std::uint64_t> due_before(Snapshot& view, const RunHolds& holds, const RunRow& run,
                                 Instant now) {
  RunFilter due;
  due.tenant = run.tenant;
  due.statuses = {RunStatus::queued, RunStatus::paused};
  due.due_by = now;
  due.by_priority = true;
  due.without_input = true;
  due.queues = {run.queue};
  due.limit = limits::page_rows_max;
  BELAY_TRY(std::vector<RunRow> rows, view.runs(due));
  std::uint64_t before = 0;
  for (const RunRow& row : rows) {
    if (row.run == run.run) break;
    if (holds.of(row).empty()) ++before;
  }
  return before;
}

bool is_in_scope_of(const RunRow& run, const RunRow& other, ConcurrencyScope scope) {
  switch (scope) {
    case ConcurrencyScope::user:
      return run.user == other.user;
    case ConcurrencyScope::key:
      return run.concurrency_key == other.concurrency_key;
    case ConcurrencyScope::queue:
      return run.queue == other.queue;
    case ConcurrencyScope::tenant:
      break;
  }
  return true;
}

// Of the earlier runs of a thread only the oldest one can be running. A limit that is no longer
// reached after its end is not a further cause.
void remove_limits_of_earlier(WaitFacts& facts) {
  if (facts.earlier_runs.empty()) return;
  const RunRow& earlier = facts.earlier_runs.front();
  if (earlier.status != RunStatus::running) return;
  std::erase_if(facts.limits, [&](const RunHolds::FullLimit& full) {
    return full.running == full.limit && is_in_scope_of(facts.run, earlier, full.scope);
  });
}

Result<Done> read_hold(Snapshot& view, const ConcurrencyLimits& limits, WaitFacts& facts) {
  bool is_due = facts.run.due_at <= facts.now && facts.run.status != RunStatus::running &&
                facts.earlier_runs.empty();
  BELAY_TRY(RunHolds holds, RunHolds::read(view, facts.run.tenant, limits, facts.now));
  facts.queue_is_paused = holds.is_paused(facts.run.queue);
  facts.limits = holds.full_limits(facts.run);
  remove_limits_of_earlier(facts);
  if (is_due) {
    BELAY_TRY(facts.runs_before, due_before(view, holds, facts.run, facts.now));
  }
  return Done{};
}

// Returns the runs of the thread whose end the run waits for, oldest first. Of very many, the
// oldest one and the newest ones.
Result<std::vector<RunRow>> runs_ahead_of(Snapshot& view, const RunRow& run) {
  std::vector<RunRow> ahead;
  BELAY_TRY(std::optional<RunId> oldest, run_ahead_of(view, run));
  if (!oldest) return ahead;
  BELAY_TRY(RunRow first, run_row(view, run.tenant, *oldest));
  ahead.push_back(std::move(first));
  RunFilter filter;
  filter.tenant = run.tenant;
  filter.thread = run.thread;
  filter.statuses = {RunStatus::queued, RunStatus::running, RunStatus::paused,
                     RunStatus::quarantined};
  filter.before = run.run;
  filter.limit = limits::page_rows_max;
  filter.without_input = true;
  BELAY_TRY(std::vector<RunRow> rows, view.runs(filter));
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    if (row->run != *oldest) ahead.push_back(std::move(*row));
  }
  return ahead;
}

// Returns why the graph of this process refuses the materials of the run; empty: it does not, or
// this process does not have the graph.
Result<std::string> refused_materials_of(Snapshot& view, const GraphRegistry& graphs,
                                         const RunRow& row) {
  if (is_final(row.status) || !graphs.has_material_rules(row.graph)) return std::string();
  BELAY_TRY(auto gone, why_code_is_gone(view, graphs, {}, row));
  if (gone) return std::string();
  BELAY_TRY(auto refused, why_not_executed(view, graphs, row));
  return std::move(refused).value_or("");
}

// The facts by which a run is counted: without its values, and without its approvals' rows.
Result<WaitFacts> counted_facts(Snapshot& view, const GraphRegistry& graphs,
                                const OtherPrograms& others, const RunHolds& holds, Instant now,
                                RunRow run) {
  WaitFacts facts;
  facts.run = std::move(run);
  facts.now = now;
  const RunRow& row = facts.run;
  BELAY_TRY(std::optional<RunId> ahead, run_ahead_of(view, row));
  if (ahead) facts.earlier_runs.emplace_back().run = *ahead;
  BELAY_TRY(auto gone, why_code_is_gone(view, graphs, others, row));
  facts.code_gone = std::move(gone).value_or("");
  BELAY_TRY(facts.refused_materials, refused_materials_of(view, graphs, row));
  facts.queue_is_paused = holds.is_paused(row.queue);
  facts.limits = holds.full_limits(row);
  if (pause_reason(row) == PauseReason::approval) {
    ApprovalRow& open = facts.approvals.emplace_back();
    open.expires_at = row.due_at == Instant() ? Instant::max() : row.due_at;
  }
  if (row.status != RunStatus::running) return facts;
  BELAY_TRY(auto newest, newest_checkpoint(view, row.tenant, row.run));
  if (!newest) return facts;
  auto next = engine::next_tasks_from(newest->next_tasks);
  if (!next.ok()) return facts;
  for (const engine::NodeTask& task : next->tasks) {
    WaitingTask& waiting = facts.tasks.emplace_back();
    waiting.phase = task.phase;
    waiting.due = task.due;
  }
  return facts;
}

Result<FoundCounts> read_counted(Snapshot& view, const GraphRegistry& graphs,
                                 const OtherPrograms& others, const ConcurrencyLimits& limits,
                                 Instant now, RunFilter filter) {
  FoundCounts found;
  BELAY_TRY(RunHolds holds, RunHolds::read(view, filter.tenant, limits, now));
  for (RunStatus status :
       {RunStatus::queued, RunStatus::running, RunStatus::paused, RunStatus::quarantined}) {
    filter.statuses = {status};
    BELAY_TRY(std::vector<RunRow> rows, view.runs(filter));
    for (RunRow& row : rows) {
      BELAY_TRY(WaitFacts facts, counted_facts(view, graphs, others, holds, now, std::move(row)));
      found.runs.push_back(std::move(facts));
    }
  }
  BELAY_TRY(found.sessions, all_sessions(view));
  return found;
}

// True if another process has a live session: it might be a worker.
bool has_any(const OtherPrograms& others) {
  return others.has_undeclared || !others.declared.empty();
}

void add_slot_waits(const std::vector<std::pair<std::string, std::string>>& slots,
                    std::vector<WaitingTask>& tasks) {
  for (const auto& [node, dependency] : slots) {
    for (WaitingTask& task : tasks) {
      if (task.node != node || !task.dependency.empty()) continue;
      task.dependency = dependency;
      break;
    }
  }
}

// Completes the facts with the sessions: a snapshot does not contain which of them are alive.
Task<Result<WaitFacts>> with_sessions(const WaitParts& parts, WaitFacts facts,
                                      const std::vector<SessionRow>& sessions, bool others) {
  for (const SessionRow& each : sessions) {
    if (each.session == facts.run.session) facts.owner = each;
  }
  if (facts.run.status == RunStatus::running) {
    BELAY_CO_TRY(facts.owner_is_alive, parts.store.is_alive(facts.run.session));
    if (facts.owner_is_alive && parts.process_of) {
      facts.owner_process = parts.process_of(facts.run.session);
    }
  }
  if (parts.slot_waits) add_slot_waits(parts.slot_waits(facts.run.run), facts.tasks);
  facts.has_worker = parts.works || others;
  co_return facts;
}

}  // namespace

Result<WaitFacts> wait_facts(Snapshot& view, const GraphRegistry& graphs,
                             const OtherPrograms& others, const ConcurrencyLimits& limits,
                             Instant now, RunRow run) {
  WaitFacts facts;
  facts.run = std::move(run);
  facts.now = now;
  if (is_final(facts.run.status)) return facts;
  BELAY_TRY(facts.earlier_runs, runs_ahead_of(view, facts.run));
  BELAY_CHECK(read_waiting_run(view, graphs, others, facts));
  BELAY_CHECK(read_hold(view, limits, facts));
  return facts;
}

Task<Result<Value>> explain_wait(WaitParts parts, TenantId tenant, ThreadId thread,
                                 std::optional<RunId> run) {
  BELAY_CO_TRY(OtherPrograms others, co_await other_programs(parts.store, tenant, parts.session));
  bool has_others = has_any(others);
  std::function<Result<FoundFacts>(Snapshot&)> reader =
      [tenant, thread, run, others = std::move(others), graphs = parts.graphs,
       limits = parts.limits, call = parts.call,
       now = parts.clock.now()](Snapshot& view) -> Result<FoundFacts> {
    BELAY_TRY(RunRow row, run_of_thread(view, tenant, thread, call, run));
    FoundFacts found;
    BELAY_TRY(found.facts, wait_facts(view, *graphs, others, limits, now, std::move(row)));
    if (!found.facts.earlier_runs.empty()) {
      RunRow earlier = found.facts.earlier_runs.front();
      BELAY_TRY(found.earlier, wait_facts(view, *graphs, others, limits, now, std::move(earlier)));
    }
    BELAY_TRY(found.sessions, all_sessions(view));
    return found;
  };
  BELAY_CO_TRY(FoundFacts found, co_await read<FoundFacts>(parts.store, std::move(reader)));
  WaitFacts stored = std::move(found.facts);
  BELAY_CO_TRY(WaitFacts facts,
               co_await with_sessions(parts, std::move(stored), found.sessions, has_others));
  std::optional<WaitFacts> earlier;
  if (found.earlier) {
    WaitFacts before = *std::move(found.earlier);
    BELAY_CO_TRY(earlier,
                 co_await with_sessions(parts, std::move(before), found.sessions, has_others));
  }
  co_return why_document(facts.run, wait_chain(facts, earlier));
}

Task<Result<Value::Array>> count_waits(WaitParts parts, TenantId tenant,
                                       std::optional<UserId> user) {
  RunFilter filter;
  filter.tenant = tenant;
  filter.user = std::move(user);
  filter.without_input = true;
  filter.limit = limits::list_rows_max;
  BELAY_CO_TRY(OtherPrograms others, co_await other_programs(parts.store, tenant, parts.session));
  bool has_others = has_any(others);
  std::function<Result<FoundCounts>(Snapshot&)> reader =
      [filter = std::move(filter), others = std::move(others), graphs = parts.graphs,
       limits = parts.limits, now = parts.clock.now()](Snapshot& view) {
        return read_counted(view, *graphs, others, limits, now, filter);
      };
  BELAY_CO_TRY(FoundCounts found, co_await read<FoundCounts>(parts.store, std::move(reader)));
  std::map<std::string, std::uint64_t> counts;
  for (WaitFacts& each : found.runs) {
    WaitFacts stored = std::move(each);
    BELAY_CO_TRY(WaitFacts facts,
                 co_await with_sessions(parts, std::move(stored), found.sessions, has_others));
    ++counts[std::string(name_of(why(facts).front().cause))];
  }
  Value::Array waits;
  for (const auto& [cause, runs] : counts) {
    waits.push_back(Value::object({{"cause", cause}, {"runs", runs}}));
  }
  co_return waits;
}

}  // namespace belay
