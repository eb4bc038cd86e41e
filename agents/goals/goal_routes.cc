#include "agents/goals/goal_routes.h"

#include "agents/goals/goal_documents.h"
#include "agents/goals/goal_operations.h"

namespace belay::goals {
namespace {

constexpr auto kGoalListMax = static_cast<std::int64_t>(limits::list_rows_max);
constexpr std::int64_t kListDefault = 50;
constexpr std::string_view kGoalPath = "/api/goals/{goalId}";

Value text_schema() { return Value::object({{"type", "string"}}); }

Parameter idempotency_parameter(std::string help) {
  Parameter key = query_parameter("Idempotency-Key", std::move(help), text_schema());
  key.in = Parameter::In::header;
  return key;
}

Result<std::size_t> limit_in(const RouteCall& call) {
  BELAY_TRY(std::int64_t limit, int_parameter(call.query, "limit", kListDefault, 1, kGoalListMax));
  return static_cast<std::size_t>(limit);
}

std::string query_text(const RouteCall& call, std::string_view name) {
  auto found = call.query.find(name);
  return found == call.query.end() ? std::string() : found->second;
}

Value next_or_null(std::string next) { return next.empty() ? Value() : Value(std::move(next)); }

ModuleRoute changing_route(std::string method, std::string path, std::string id,
                           std::string summary) {
  ModuleRoute route =
      route_of(std::move(method), std::move(path), std::move(id), std::move(summary));
  route.permission = Permission::run;
  route.parameters = {owner_parameter()};
  return route;
}

// The same key of a user always yields the same goal. Without a key: a new one for each request.
std::string id_for(const RouteCall& call, const UserId& owner, const Goal& goal) {
  std::string_view key = call.header("Idempotency-Key");
  std::string seed = "goal" + std::string(1, '\0') + owner.text + std::string(1, '\0');
  if (!key.empty()) return derived_uuid(seed + "key" + std::string(key)).text();
  return derived_uuid(seed + to_text(goal.createdAt) + goal.objective).text();
}

Task<Result<RouteReply>> create_goal(RouteCall& call) {
  BELAY_CO_TRY(UserId owner, owner_in(call));
  Goal goal;
  BELAY_CO_CHECK(apply_changes(goal, call.body));
  goal.createdAt = goal.updatedAt = call.clock().now();
  goal.id = id_for(call, owner, goal);
  GoalAccess at{call.service, call.who, std::move(owner)};
  RouteReply reply;
  reply.status = 201;
  Goal saved_goal = goal;
  auto saved = co_await save_goal(at, std::move(saved_goal), 0);
  if (!saved.ok()) {
    if (saved.error().code != ErrorCode::conflict) co_return std::move(saved).error();
    // The goal of an earlier request with this key.
    std::string id = goal.id;
    BELAY_CO_TRY(Versioned<Goal> found, co_await find_goal(at, std::move(id)));
    goal = std::move(found.record);
    reply.status = 200;
  }
  reply.headers.push_back({"Location", address_of(kGoalPath, goal.id)});
  BELAY_CO_TRY(reply.document, goal_document(goal));
  co_return std::move(reply);
}

ModuleRoute create_route() {
  ModuleRoute route = changing_route("POST", "/api/goals", "createGoal", "Creation of a goal");
  route.parameters.push_back(
      idempotency_parameter("Names the goal: a repeated request returns that of the first"));
  route.body = goal_body_schema(true);
  route.answers = {{201, "Created; the Location header contains its address", "Goal"},
                   {200, "It already existed", "Goal"}};
  route.handle = create_goal;
  return route;
}

Task<Result<RouteReply>> list_page(RouteCall& call) {
  BELAY_CO_TRY(UserId owner, owner_in(call));
  BELAY_CO_TRY(std::size_t limit, limit_in(call));
  GoalAccess at{call.service, call.who, std::move(owner)};
  std::string after = query_text(call, "after");
  BELAY_CO_TRY(GoalPage page, co_await list_goals(at, std::move(after), limit));
  Value::Array documents;
  for (const Goal& goal : page.goals) {
    BELAY_CO_TRY(Value document, goal_document(goal));
    documents.push_back(std::move(document));
  }
  co_return route_reply(Value::object(
      {{"goals", std::move(documents)}, {"next", next_or_null(std::move(page.next))}}));
}

ModuleRoute list_route() {
  ModuleRoute route = route_of("GET", "/api/goals", "listGoals", "Goals of a user, newest first");
  route.parameters = {owner_parameter(),
                      query_parameter("after", "`next` of the previous page", text_schema()),
                      limit_parameter(kListDefault, kGoalListMax)};
  route.answers = {{200, "A page; `next` is the `after` of the next page", "GoalList"}};
  route.handle = list_page;
  return route;
}

Task<Result<RouteReply>> show_goal(RouteCall& call) {
  BELAY_CO_TRY(UserId owner, owner_in(call));
  GoalAccess at{call.service, call.who, std::move(owner)};
  std::string id = call.path.at("goalId");
  BELAY_CO_TRY(Versioned<Goal> found, co_await find_goal(at, std::move(id)));
  RouteReply reply;
  BELAY_CO_TRY(reply.document, goal_document(found.record));
  co_return std::move(reply);
}

ModuleRoute show_route() {
  ModuleRoute route = route_of("GET", std::string(kGoalPath), "getGoal", "One goal");
  route.parameters = {owner_parameter()};
  route.answers = {{200, "The goal", "Goal"}};
  route.handle = show_goal;
  return route;
}

Task<Result<RouteReply>> changed_goal(RouteCall& call, Value changes) {
  BELAY_CO_TRY(UserId owner, owner_in(call));
  GoalAccess at{call.service, call.who, std::move(owner)};
  std::string id = call.path.at("goalId");
  Instant now = call.clock().now();
  BELAY_CO_TRY(Goal goal, co_await change_goal(at, std::move(id), std::move(changes), now));
  RouteReply reply;
  BELAY_CO_TRY(reply.document, goal_document(goal));
  co_return std::move(reply);
}

ModuleRoute edit_route() {
  ModuleRoute route = changing_route("PATCH", std::string(kGoalPath), "editGoal",
                                     "Changes to a goal; a run in progress keeps the values with "
                                     "which it began");
  route.body = goal_body_schema(false);
  route.answers = {{200, "The changed goal", "Goal"}};
  route.handle = [](RouteCall& call) { return changed_goal(call, call.body); };
  return route;
}

ModuleRoute status_route(std::string_view verb, std::string_view status, std::string summary) {
  ModuleRoute route = changing_route("POST", std::string(kGoalPath) + "/" + std::string(verb),
                                     std::string(verb) + "Goal", std::move(summary));
  route.body = empty_body_schema();
  route.answers = {{200, "The goal", "Goal"}};
  route.handle = [status](RouteCall& call) {
    return changed_goal(call, Value::object({{"status", status}}));
  };
  return route;
}

ModuleRoute remove_route() {
  ModuleRoute route = changing_route("DELETE", std::string(kGoalPath), "deleteGoal",
                                     "Deletion of a goal with its steps and results");
  route.parameters.push_back(query_parameter("cancel", "true: also cancels its runs in progress",
                                             Value::object({{"type", "boolean"}})));
  route.answers = {{204, "Deleted", ""}};
  route.handle = [](RouteCall& call) -> Task<Result<RouteReply>> {
    BELAY_CO_TRY(UserId owner, owner_in(call));
    GoalAccess at{call.service, call.who, std::move(owner)};
    std::string id = call.path.at("goalId");
    bool cancel = query_text(call, "cancel") == "true";
    BELAY_CO_CHECK(co_await remove_goal(at, std::move(id), cancel));
    RouteReply reply;
    reply.status = 204;
    co_return std::move(reply);
  };
  return route;
}

ModuleRoute trigger_route() {
  ModuleRoute route = changing_route("POST", std::string(kGoalPath) + "/trigger", "triggerGoal",
                                     "A run of the goal, in the queue \"goals\"");
  route.begins_run = true;
  for (Parameter& parameter : start_parameters()) route.parameters.push_back(std::move(parameter));
  route.body = empty_body_schema();
  route.answers = {{202, "The run is queued", "Run"}};
  route.handle = [](RouteCall& call) -> Task<Result<RouteReply>> {
    BELAY_CO_TRY(UserId owner, owner_in(call));
    GoalAccess at{call.service, call.who, std::move(owner)};
    std::string id = call.path.at("goalId");
    BELAY_CO_TRY(StartRun start, co_await prepare_trigger(at, std::move(id)));
    BELAY_CO_TRY(RunView view, co_await call.start(std::move(start)));
    RouteReply reply = route_reply(call.document(view));
    reply.status = 202;
    co_return std::move(reply);
  };
  return route;
}

Task<Result<RouteReply>> list_runs_of(RouteCall& call) {
  BELAY_CO_TRY(UserId owner, owner_in(call));
  BELAY_CO_TRY(std::size_t limit, limit_in(call));
  GoalAccess at{call.service, call.who, std::move(owner)};
  std::string id = call.path.at("goalId");
  BELAY_CO_CHECK(co_await find_goal(at, std::move(id)));
  std::optional<RunId> before;
  if (std::string text = query_text(call, "before"); !text.empty()) {
    auto run = uuid_from(text);
    if (!run) co_return error(ErrorCode::invalid, "\"before\" must be a run id.");
    before = RunId(*run);
  }
  id = call.path.at("goalId");
  BELAY_CO_TRY(std::vector<RunRow> runs, co_await runs_of_goal(at, std::move(id), before, limit));
  Value::Array documents;
  for (const RunRow& row : runs) {
    RunView view;
    view.row = row;
    documents.push_back(call.document(view));
  }
  Value next;
  if (runs.size() == limit) next = runs.back().run.text();
  co_return route_reply(Value::object({{"runs", std::move(documents)}, {"next", std::move(next)}}));
}

ModuleRoute runs_route() {
  ModuleRoute route = route_of("GET", std::string(kGoalPath) + "/runs", "listGoalRuns",
                               "Runs of a goal, newest first");
  route.parameters = {owner_parameter(),
                      query_parameter("before", "`next` of the previous page", text_schema()),
                      limit_parameter(kListDefault, kGoalListMax)};
  route.answers = {{200, "A page; `next` is the `before` of the next page", "RunList"}};
  route.handle = list_runs_of;
  return route;
}

Task<Result<RouteReply>> list_steps_of(RouteCall& call) {
  BELAY_CO_TRY(std::size_t limit, limit_in(call));
  auto id = uuid_from(call.path.at("runId"));
  if (!id) co_return error(ErrorCode::invalid, "\"runId\" must be a run id.");
  BELAY_CO_TRY(RunRow row, co_await call.service.run(call.who, RunId(*id)));
  GoalAccess at{call.service, call.who, row.user};
  std::string after = query_text(call, "after");
  BELAY_CO_TRY(StepPage page, co_await list_steps(at, row.run, std::move(after), limit));
  Value::Array documents;
  for (const GoalStep& step : page.steps) {
    BELAY_CO_TRY(Value document, step_document(step));
    documents.push_back(std::move(document));
  }
  co_return route_reply(Value::object(
      {{"steps", std::move(documents)}, {"next", next_or_null(std::move(page.next))}}));
}

ModuleRoute steps_route() {
  ModuleRoute route =
      route_of("GET", "/api/runs/{runId}/steps", "listSteps", "Steps of a run of a goal, in order");
  route.parameters = {query_parameter("after", "`next` of the previous page", text_schema()),
                      limit_parameter(kListDefault, kGoalListMax)};
  route.answers = {{200, "A page; `next` is the `after` of the next page", "GoalStepList"}};
  route.handle = list_steps_of;
  return route;
}

}  // namespace

std::vector<ModuleRoute> goal_routes() {
  std::vector<ModuleRoute> routes;
  routes.push_back(create_route());
  routes.push_back(list_route());
  routes.push_back(show_route());
  routes.push_back(edit_route());
  routes.push_back(remove_route());
  routes.push_back(trigger_route());
  routes.push_back(status_route("pause", kPaused, "Pauses a goal: it cannot be triggered"));
  routes.push_back(status_route("resume", kActive, "Resumes a paused goal"));
  routes.push_back(runs_route());
  routes.push_back(steps_route());
  return routes;
}

}  // namespace belay::goals
