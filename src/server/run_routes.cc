// Routes of agents, and of starting their runs.

#include "base/run_of_key.h"
#include "server/body.h"
#include "server/closed_names.h"
#include "server/openapi.h"
#include "server/problem.h"
#include "server/routes.h"
#include "service/run_request.h"

namespace belay::server {
// Bodies of requests. Not in the unnamed namespace below, because the codec reads the names of
// their members.

struct FirstNodeBody {
  std::string node;
  Value input;  // of a send; null: none
};

struct CommitBody {
  std::string runId;
  std::int64_t seq = 0;
};

struct EditBody {
  std::optional<std::string> asNode;
  std::vector<FirstNodeBody> goTo;
  std::optional<bool> held;
  std::optional<CommitBody> from;  // an earlier commit of the thread
};

// The body of a start.
struct StartBody {
  Value input;
  std::optional<std::string> threadId;
  std::optional<std::string> userId;
  std::optional<std::int64_t> maxRetries;
  std::optional<std::int64_t> timeoutMs;
  std::optional<bool> requireApproval;
  std::optional<std::int64_t> expiresMs;
  std::optional<std::int64_t> maxTokens;
  std::optional<std::int64_t> maxCost;  // in millionths of the unit of the models' prices
  std::optional<bool> queued;
  std::optional<std::int64_t> delayMs;
  std::optional<std::string> queue;
  std::optional<std::int64_t> priority;
  std::optional<std::string> concurrencyKey;
  std::optional<std::string> ifBusy;  // a BusyThread
  std::optional<Breakpoints> breakpoints;
  std::optional<EditBody> edit;  // the input is a change of the thread's state: see StateEdit
  Value configuration;           // an object for the nodes; null: none
};

namespace {

constexpr std::int64_t kRunsDefault = 20;

RunSettings settings_of(const StartBody& body) {
  RunSettings settings;
  settings.max_retries = attempts_from(body.maxRetries);
  settings.timeout = time_from(body.timeoutMs);
  settings.approval_expires = time_from(body.expiresMs);
  settings.budget.tokens = body.maxTokens;
  settings.budget.money = body.maxCost;
  settings.require_approval = body.requireApproval;
  settings.breakpoints = body.breakpoints;
  return settings;
}

StateEdit edit_in(EditBody body) {
  StateEdit edit;
  edit.as_node = body.asNode.value_or("");
  edit.held = body.held.value_or(false);
  if (body.from) edit.from = RunCommit{std::move(body.from->runId), body.from->seq};
  for (FirstNodeBody& each : body.goTo) {
    std::string input = each.input.is_null() ? std::string() : to_json(each.input);
    edit.go_to.push_back({std::move(each.node), std::move(input)});
  }
  return edit;
}

Result<StartRun> start_of(const Call& call) {
  constexpr std::int64_t delay_max = 30ll * 86'400'000;
  BELAY_TRY(StartBody body, read_body<StartBody>(call));
  StartRun start;
  start.agent = call.path.at("agent");
  start.input = body.input.is_null() ? Value(Value::Object{}) : std::move(body.input);
  start.user = call.who.user;
  if (body.userId) {
    BELAY_CHECK(check_name("userId", *body.userId));
    start.user = UserId(*body.userId);
  }
  if (body.threadId) {
    BELAY_CHECK(check_name("threadId", *body.threadId));
    start.thread = ThreadId(*body.threadId);
  }
  start.run = settings_of(body);
  if (body.edit) start.edit = edit_in(*std::move(body.edit));
  if (!body.configuration.is_null()) start.run.configuration = to_json(body.configuration);
  if (body.ifBusy) {
    auto busy = busy_thread_named(*body.ifBusy);
    if (!busy) {
      return error(ErrorCode::invalid,
                   "\"ifBusy\" must be reject, enqueue, interrupt or rollback.");
    }
    start.if_busy = *busy;
  }
  if (body.delayMs) {
    BELAY_TRY(std::int64_t delay, within("delayMs", *body.delayMs, 0, delay_max));
    start.delay = std::chrono::milliseconds(delay);
  }
  start.queued = body.queued.value_or(false) || body.delayMs.value_or(0) > 0;
  start.queue = body.queue.value_or(start.queue);
  start.priority = body.priority.value_or(0);
  start.concurrency_key = body.concurrencyKey.value_or("");
  return start;
}

Route list_agents() {
  Route route = route_of("GET", "/api/agents", "listAgents", "Agents with their states and nodes");
  route.answers = {{200, "All agents", "AgentList"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(AgentDocuments agents, co_await call.service.agents(call.who));
    co_return reply_with(Value::object({{"agents", *agents}}));
  };
  return route;
}

Route show_agent() {
  Route route = route_of("GET", "/api/agents/{agent}", "getAgent", "One agent");
  route.answers = {{200, "The agent", "Agent"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    const std::string& name = call.path.at("agent");
    BELAY_CO_TRY(AgentDocuments agents, co_await call.service.agents(call.who));
    if (const Value* agent = find_agent(*agents, name)) co_return reply_with(*agent);
    co_return error(ErrorCode::not_found, "Unknown agent \"" + name + "\".");
  };
  return route;
}

Route start_run(ApiContext& world) {
  Route route = route_of("POST", "/api/agents/{agent}/runs", "startRun",
                         "Start of a run on a new thread, or of the next run of a known one");
  route.permission = Permission::run;
  route.begins_run = true;
  route.body = body_schema<StartBody>();
  refer_to_names(route.body, "ifBusy", "BusyThread");
  route.parameters = start_parameters();
  route.answers = {{200, "The run has ended", "Run"},
                   {202, "The run is paused or still in progress", "Run"}};
  route.finds_run = finds_run_of_header;
  route.handle = with(world, [](ApiContext& served, Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(StartRun start, start_of(call));
    co_return co_await begin_run(served, call, std::move(start));
  });
  return route;
}

Result<RunPage> run_page(const Call& call) {
  RunPage page;
  BELAY_TRY(std::int64_t limit, int_parameter(call.query, "limit", kRunsDefault, 1, kListMax));
  page.limit = static_cast<std::size_t>(limit);
  BELAY_TRY(auto before, id_parameter(call, "before", "a run id"));
  if (before) page.before = RunId(*before);
  BELAY_TRY(page.user, named_user_in(call));
  if (auto found = call.query.find("threadId"); found != call.query.end()) {
    BELAY_CHECK(check_name("threadId", found->second));
    page.thread = ThreadId(found->second);
  }
  auto status = call.query.find("status");
  if (status == call.query.end()) return page;
  for (RunStatus each :
       {RunStatus::queued, RunStatus::running, RunStatus::paused, RunStatus::completed,
        RunStatus::failed, RunStatus::cancelled, RunStatus::quarantined}) {
    if (name_of(each) == status->second) page.statuses.push_back(each);
  }
  return page;
}

Route list_runs() {
  Route route = route_of("GET", "/api/runs", "listRuns", "Runs, newest first");
  route.parameters = {
      query_parameter("status", "Only runs with this status", closed_names().at("RunStatus")),
      query_parameter("threadId", "Only runs of this thread", Value::object({{"type", "string"}})),
      query_parameter("before", "Last run of the previous page",
                      Value::object({{"type", "string"}, {"format", "uuid"}})),
      named_user_parameter(), limit_parameter(kRunsDefault, kListMax)};
  route.is_of_store = true;
  route.answers = {{200, "A page of runs; `next` is the `before` of the next page", "RunList"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(RunPage page, run_page(call));
    std::size_t limit = page.limit;
    BELAY_CO_TRY(std::vector<RunRow> rows, co_await call.service.runs(call.who, std::move(page)));
    Value::Array runs;
    for (const RunRow& row : rows) runs.push_back(run_summary(row));
    Value next;
    if (rows.size() == limit) next = rows.back().run.text();
    co_return reply_with(Value::object({{"runs", std::move(runs)}, {"next", std::move(next)}}));
  };
  return route;
}

Route show_run(ApiContext& world) {
  Route route = route_of("GET", "/api/runs/{runId}", "getRun", "One run");
  route.is_of_store = true;
  route.answers = {{200, "The run with its state", "Run"}};
  route.handle = with(world, [](ApiContext& served, Call call) -> Task<Result<Reply>> {
    auto id = uuid_from(call.path.at("runId"));
    if (!id) co_return error(ErrorCode::not_found, "Unknown run.");
    BELAY_CO_TRY(RunRow row, co_await call.service.run(call.who, RunId(*id)));
    ThreadId thread = row.thread;
    BELAY_CO_TRY(RunView view,
                 co_await call.service.status(call.who, std::move(thread), std::nullopt, row.run));
    co_return view_reply(served, view);
  });
  return route;
}

Route overview(ApiContext& world) {
  Route route = route_of("GET", "/api/overview", "getOverview",
                         "Runs in progress, orphaned and queued runs, and pending approvals");
  route.parameters = {named_user_parameter()};
  route.answers = {{200, "The overview", "Overview"}};
  route.handle = with(world, [](ApiContext& served, Call call) -> Task<Result<Reply>> {
    Whose whose;
    BELAY_CO_TRY(whose.runs, named_user_in(call));
    whose.approvals = whose.runs;
    BELAY_CO_TRY(StatusSummary standing,
                 co_await call.service.standing(call.who, std::move(whose)));
    co_return reply_with(status_summary_document(standing, served.options.extras));
  });
  return route;
}

}  // namespace

Task<Result<ThreadId>> thread_to_begin(ApiContext& world, const Call& call, ThreadId named,
                                       UserId user) {
  std::string_view key = call.request.header("Idempotency-Key");
  if (!key.empty()) BELAY_CO_CHECK(check_name("Idempotency-Key", key));
  if (named.empty() && !key.empty()) co_return thread_of_key(user, key);
  if (named.empty()) co_return ThreadId(random_uuid(world.parts.random).text());
  // The prefix is reserved: otherwise a caller who guesses another caller's key could create its
  // thread first.
  if (!named.text.starts_with(kThreadOfKey)) co_return std::move(named);
  ThreadId wanted = named;
  auto there = co_await call.service.run_of(call.who, std::move(wanted), std::nullopt);
  if (there.ok()) co_return std::move(named);
  if (there.error().code != ErrorCode::not_found) co_return std::move(there).error();
  co_return error(
      ErrorCode::invalid,
      "Invalid thread name \"" + named.text +
          "\": this form is reserved for requests with an Idempotency-Key. Choose another name.");
}

namespace {

// Starts a run, also if the request ends meanwhile. `count`: the slot of the request, held until
// the run has ended.
Task<Result<RunView>> start_for(Service& service, Principal who, StartRun start,
                                std::shared_ptr<StartCount> count) {
  (void)count;
  auto view = co_await service.start(who, std::move(start));
  co_return std::move(view);
}

// The response to a start on a busy thread, which names the run that has not ended.
Task<Result<Reply>> busy_reply(const Call& call, ThreadId thread, Error refused) {
  auto run = co_await call.service.run_of(call.who, std::move(thread), std::nullopt);
  if (!run.ok() || is_final(run->status)) co_return std::move(refused);
  Value details = Value::object({{"threadId", run->thread.text},
                                 {"runId", run->run.text()},
                                 {"runStatus", name_of(run->status)}});
  Reply reply;
  take_problem(problem(refused, std::move(details)), reply);
  co_return std::move(reply);
}

}  // namespace

Task<Result<Reply>> begin_run(ApiContext& world, const Call& call, StartRun start) {
  ThreadId thread = start.thread;
  auto view = co_await begun_run(world, call, std::move(start));
  bool may_be_busy = !view.ok() && view.error().code == ErrorCode::conflict && !thread.empty();
  if (may_be_busy) co_return co_await busy_reply(call, std::move(thread), std::move(view).error());
  if (!view.ok()) co_return std::move(view).error();
  co_return run_reply(world, *view);
}

Task<Result<RunView>> begun_run(ApiContext& world, const Call& call, StartRun start) {
  Preference preference = preference_of(call.request);
  if (preference.is_async) start.queued = true;
  Patience patience = patience_of(world, preference, start.queued);
  co_return co_await begun_run(world, call, std::move(start), patience);
}

Task<Result<RunView>> begun_run(ApiContext& world, const Call& call, StartRun start,
                                Patience patience) {
  UserId user = start.user;
  ThreadId named = std::move(start.thread);
  start.idempotency_key = call.request.header("Idempotency-Key");
  start.thread_is_new = named.empty() && start.idempotency_key.empty();
  bool is_of_key = !start.idempotency_key.empty();
  bool has_thread_of_key = is_of_key && named.empty();
  BELAY_CO_TRY(start.thread,
               co_await thread_to_begin(world, call, std::move(named), std::move(user)));
  AwaitedRun awaited{start.thread, world.parts.clock.now(), start.agent, std::nullopt};
  // Without a key, the run needs one by which it is found while others are started.
  if (start.idempotency_key.empty() && !start.thread_is_new) {
    start.idempotency_key = "request " + random_uuid(world.parts.random).text();
  }
  if (!start.idempotency_key.empty()) {
    awaited.run = run_of_key(call.who.tenant, start.user, start.idempotency_key);
  }
  if (!start.queued) {
    std::optional<RunId> sent_before;
    if (is_of_key) sent_before = awaited.run;
    BELAY_CO_CHECK(
        co_await enter_start(call, start.thread, start.agent, has_thread_of_key, sent_before));
  }
  auto task = start_for(call.service, call.who, std::move(start), call.start);
  auto view = co_await await_run(world, call.service, call.who, std::move(task), std::move(awaited),
                                 patience);
  keep_if_begun(call, view);
  co_return std::move(view);
}

Task<Result<bool>> has_one_run_per_thread(Service& service, const Principal& who,
                                          std::string agent) {
  BELAY_CO_TRY(AgentDocuments agents, co_await service.agents(who));
  const Value* document = find_agent(*agents, agent);
  co_return document && (*document)["oneRunPerThread"] == Value(true);
}

Task<Result<Done>> enter_start(const Call& call, ThreadId thread, std::string agent, bool may_find,
                               std::optional<RunId> sent_before) {
  auto entered = co_await enter(call, thread, may_find);
  if (entered.ok()) co_return std::move(entered);
  if (sent_before) {
    auto there = co_await call.service.run(call.who, *sent_before);
    if (there.ok()) co_return Done{};
  }
  if (may_find) co_return std::move(entered);
  BELAY_CO_TRY(bool has_one_run,
               co_await has_one_run_per_thread(call.service, call.who, std::move(agent)));
  if (!has_one_run) co_return std::move(entered);
  co_return co_await enter(call, std::move(thread), true);
}

Task<Result<Done>> enter(const Call& call, ThreadId thread, bool may_find) {
  if (!call.start) co_return Done{};
  auto entered = call.start->enter();
  if (entered.ok() || !may_find) co_return std::move(entered);
  // A repeated request starts no run: it finds its run, whatever the current limits.
  auto there = co_await call.service.run_of(call.who, std::move(thread), std::nullopt);
  if (there.ok()) co_return Done{};
  co_return std::move(entered);
}

void keep_if_begun(const Call& call, const Result<RunView>& view) {
  if (call.start && view.ok() && view->row.created_at >= call.start->asked_at) call.start->keep();
}

std::vector<Route> run_routes(ApiContext& world) {
  std::vector<Route> routes;
  routes.push_back(list_agents());
  routes.push_back(show_agent());
  routes.push_back(start_run(world));
  routes.push_back(list_runs());
  routes.push_back(show_run(world));
  routes.push_back(overview(world));
  return routes;
}

}  // namespace belay::server
