#include "agents/goals/goal_operations.h"

#include <chrono>

#include "agents/goals/goal_documents.h"
#include "agents/goals/planner.h"

namespace belay::goals {
namespace {

constexpr std::size_t kErasedTogether = limits::bounded(100);
constexpr int kChangeAttempts = 10;
// Working time of a run for each model call.
constexpr std::chrono::minutes kStepTime{5};

// The queue is of all users of the tenant: a caller who triggers a goal may set its first limit.
Principal tenant_program(const Principal& who) {
  Principal program;
  program.tenant = who.tenant;
  return program;
}

Task<Result<Done>> limit_queue(GoalAccess at) {
  Principal program = tenant_program(at.who);
  std::optional<UserId> all;
  BELAY_CO_TRY(Value found, co_await at.service.queues(program, std::move(all)));
  if (const Value::Array* queues = found["queues"].as_array()) {
    for (const Value& queue : *queues) {
      bool is_it = queue["name"] == Value(kGoalQueue);
      if (is_it && queue["runsMax"].as_uint().value_or(0) > 0) co_return Done{};
    }
  }
  QueueChange change{.name = kGoalQueue, .runs_max = 1};
  auto changed = co_await at.service.change_queue(program, std::move(change));
  // A server decides by the key of a remote caller, which might not permit it.
  bool is_refused = !changed.ok() && changed.error().code == ErrorCode::forbidden;
  if (!changed.ok() && !is_refused) co_return std::move(changed).error();
  co_return Done{};
}

// The run reads the goal when it begins: a trigger that is repeated after an edit is the same one.
Value input_of(const Goal& goal) {
  return Value::object({{"goal", Value::object({{"id", goal.id}})}});
}

// Erases the records of a collection whose member "goal" is this goal.
Task<Result<Done>> erase_of_goal(GoalAccess at, std::string collection, std::string id) {
  while (true) {
    RecordFilter filter;
    filter.collection = collection;
    filter.field = "goal";
    filter.value = id;
    filter.limit = kErasedTogether;
    UserId owner = at.owner;
    BELAY_CO_TRY(std::vector<RecordRow> rows,
                 co_await at.service.find_records(at.who, std::move(owner), std::move(filter)));
    if (rows.empty()) co_return Done{};
    std::vector<RecordWrite> writes;
    for (RecordRow& row : rows) {
      writes.push_back(record_erasure(collection, at.owner, std::move(row.key)));
    }
    BELAY_CO_CHECK(co_await at.service.save_records(at.who, std::move(writes)));
  }
}

// Returns a run of the goal that has not ended; nullopt if all have.
Task<Result<std::optional<RunRow>>> open_run(GoalAccess at, std::string id) {
  RunPage page;
  page.thread = thread_of(id);
  page.statuses = {RunStatus::queued, RunStatus::running, RunStatus::paused,
                   RunStatus::quarantined};
  page.limit = 1;
  auto runs = co_await at.service.runs(at.who, std::move(page));
  bool is_new = !runs.ok() && runs.error().code == ErrorCode::not_found;
  if (!runs.ok() && !is_new) co_return std::move(runs).error();
  std::optional<RunRow> open;
  if (runs.ok() && !runs->empty()) open = std::move(runs->front());
  co_return std::move(open);
}

// Cancels the runs of the goal that have not ended, one after another.
Task<Result<Done>> end_runs(GoalAccess at, std::string id, bool cancel) {
  std::optional<RunId> refused;
  while (true) {
    std::string goal = id;
    BELAY_CO_TRY(std::optional<RunRow> open, co_await open_run(at, std::move(goal)));
    if (!open) co_return Done{};
    if (!cancel) {
      co_return error(ErrorCode::conflict, "The goal \"" + id + "\" has a run that is " +
                                               std::string(name_of(open->status)) +
                                               ". Wait for its end, or remove the goal with "
                                               "\"cancel\".");
    }
    ThreadId thread = open->thread;
    std::optional<RunId> run = open->run;
    std::string by = at.who.user.empty() ? at.owner.text : at.who.user.text;
    auto cancelled = co_await at.service.cancel(at.who, std::move(thread), std::move(by), "", run);
    // A run that has ended meanwhile is not found again.
    bool is_conflict = !cancelled.ok() && cancelled.error().code == ErrorCode::conflict;
    bool is_again = refused && *refused == open->run;
    if (!cancelled.ok() && (!is_conflict || is_again)) co_return std::move(cancelled).error();
    if (is_conflict) refused = open->run;
  }
}

}  // namespace

ThreadId thread_of(const std::string& goal) { return ThreadId("goal-" + goal); }

Task<Result<Versioned<Goal>>> find_goal(GoalAccess at, std::string id) {
  auto records = records_of(at.service, at.who, at.owner);
  std::string key = id;
  BELAY_CO_TRY(auto found, co_await records->get_versioned<Goal>(std::move(key)));
  if (found) co_return *std::move(found);
  co_return error(ErrorCode::not_found,
                  "Unknown goal \"" + id + "\". List goals with `belay goals list`.");
}

Task<Result<Done>> save_goal(GoalAccess at, Goal goal, std::optional<std::uint64_t> version) {
  BELAY_CO_TRY(RecordWrite write, record_write(goal, at.owner));
  write.expected_version = version;
  std::string json = write.json;
  std::vector<RecordWrite> writes;
  writes.push_back(std::move(write));
  auto saved = co_await at.service.save_records(at.who, std::move(writes));
  if (saved.ok() || saved.error().code != ErrorCode::conflict) co_return std::move(saved);
  // A request to a server that was repeated after a lost response finds its own goal.
  std::string id = goal.id;
  auto stored = co_await find_goal(at, std::move(id));
  if (stored.ok() && encode_json(stored->record).value_or("") == json) co_return Done{};
  co_return std::move(saved);
}

Task<Result<Goal>> change_goal(GoalAccess at, std::string id, Value changes, Instant now) {
  for (int attempt = 1;; ++attempt) {
    std::string key = id;
    BELAY_CO_TRY(Versioned<Goal> found, co_await find_goal(at, std::move(key)));
    Goal goal = found.record;
    BELAY_CO_CHECK(apply_changes(goal, changes));
    if (encode_json(goal).value_or("") == encode_json(found.record).value_or("")) {
      co_return std::move(goal);
    }
    goal.updatedAt = now;
    Goal changed = goal;
    auto saved = co_await save_goal(at, std::move(changed), found.version);
    if (saved.ok()) co_return std::move(goal);
    // Another caller has changed it meanwhile: the changes apply to its goal, too.
    bool is_raced = saved.error().code == ErrorCode::conflict && attempt < kChangeAttempts;
    if (!is_raced) co_return std::move(saved).error();
  }
}

Task<Result<std::string>> resolve_goal(GoalAccess at, std::string begin) {
  auto records = records_of(at.service, at.who, at.owner);
  std::string key = begin;
  BELAY_CO_TRY(std::optional<Goal> exact, co_await records->get<Goal>(std::move(key)));
  if (exact) co_return std::move(begin);
  BELAY_CO_TRY(GoalPage page, co_await list_goals(at, "", limits::list_rows_max));
  std::vector<std::string> matches;
  for (const Goal& goal : page.goals) {
    if (goal.id.starts_with(begin)) matches.push_back(goal.id);
  }
  if (matches.size() == 1) co_return std::move(matches.front());
  if (matches.empty()) {
    co_return error(ErrorCode::not_found,
                    "Unknown goal \"" + begin + "\". List goals with `belay goals list`.");
  }
  co_return error(ErrorCode::invalid, std::to_string(matches.size()) +
                                          " goals have an id that begins with \"" + begin +
                                          "\". Use more characters.");
}

Task<Result<GoalPage>> list_goals(GoalAccess at, std::string next, std::size_t limit) {
  auto records = records_of(at.service, at.who, at.owner);
  RecordSpan span("created");
  span.last_first().limit(limit);
  if (!next.empty()) span.after(next);
  BELAY_CO_TRY(RecordPage<Goal> found, co_await read_page<Goal>(*records, std::move(span)));
  GoalPage page;
  page.next = found.next;
  for (Versioned<Goal>& each : found.records) page.goals.push_back(std::move(each.record));
  co_return std::move(page);
}

Task<Result<StepPage>> list_steps(GoalAccess at, RunId run, std::string after, std::size_t limit) {
  RecordFilter filter;
  filter.collection = GoalStep::collection;
  filter.field = "run";
  filter.value = run.text();
  filter.after = std::move(after);
  filter.limit = limit;
  UserId owner = at.owner;
  BELAY_CO_TRY(std::vector<RecordRow> rows,
               co_await at.service.find_records(at.who, std::move(owner), std::move(filter)));
  StepPage page;
  for (const RecordRow& row : rows) {
    BELAY_CO_TRY(GoalStep step, record_from<GoalStep>(row));
    page.steps.push_back(std::move(step));
  }
  if (rows.size() == limit) page.next = rows.back().key;
  co_return std::move(page);
}

Task<Result<StartRun>> prepare_trigger(GoalAccess at, std::string id) {
  BELAY_CO_TRY(Versioned<Goal> found, co_await find_goal(at, std::move(id)));
  const Goal& goal = found.record;
  if (goal.status == kPaused) {
    co_return error(ErrorCode::conflict, "The goal \"" + goal.id +
                                             "\" is paused. Resume it with `belay goals resume " +
                                             goal.id + "`.");
  }
  BELAY_CO_CHECK(co_await limit_queue(at));
  StartRun start;
  start.agent = kGoalGraph;
  start.thread = thread_of(goal.id);
  start.user = at.owner;
  start.queue = kGoalQueue;
  start.priority = goal.priority;
  start.if_busy = BusyThread::enqueue;
  start.queued = true;
  start.run.timeout = kStepTime * (goal.params.stepBudget + 1);
  start.run.budget.tokens = goal.params.tokenBudget;
  start.run.budget.money = goal.params.costBudget;
  start.input = input_of(goal);
  co_return std::move(start);
}

Task<Result<Done>> remove_goal(GoalAccess at, std::string id, bool cancel) {
  std::string goal = id;
  BELAY_CO_CHECK(co_await find_goal(at, std::move(goal)));
  goal = id;
  BELAY_CO_CHECK(co_await end_runs(at, std::move(goal), cancel));
  for (std::string_view collection : {GoalStep::collection, GoalResult::collection}) {
    std::string name(collection);
    goal = id;
    BELAY_CO_CHECK(co_await erase_of_goal(at, std::move(name), std::move(goal)));
  }
  // Last: after a crash, the removal can be repeated.
  std::vector<RecordWrite> writes;
  writes.push_back(record_erasure(Goal::collection, at.owner, std::move(id)));
  co_return co_await at.service.save_records(at.who, std::move(writes));
}

Task<Result<std::vector<RunRow>>> runs_of_goal(GoalAccess at, std::string id,
                                               std::optional<RunId> before, std::size_t limit) {
  RunPage page;
  page.thread = thread_of(id);
  page.before = before;
  page.limit = limit;
  auto runs = co_await at.service.runs(at.who, std::move(page));
  bool is_new = !runs.ok() && runs.error().code == ErrorCode::not_found;
  if (is_new) co_return std::vector<RunRow>();
  co_return std::move(runs);
}

}  // namespace belay::goals
