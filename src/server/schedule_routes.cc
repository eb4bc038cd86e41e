// Routes of schedules: see belay/schedule.h.

#include "base/percent_encoding.h"
#include "server/body.h"
#include "server/openapi.h"
#include "server/routes.h"
#include "server/start_limits.h"
#include "service/schedule_documents.h"

namespace belay::server {
// Not in the unnamed namespace, because the codec reads the names of its members.
struct BackfillBody {
  Instant after;
  Instant until;
  std::optional<bool> dryRun;
};

namespace {

constexpr std::int64_t kSchedulesDefault = 50;
constexpr std::int64_t kTicksDefault = 50;
constexpr std::int64_t kNextDefault = 10;
constexpr auto kNextMax = static_cast<std::int64_t>(limits::shown_ticks_max);
constexpr std::string_view kSchedulePath = "/api/schedules/{name}";

Route changing_route(std::string method, std::string path, std::string id, std::string summary) {
  Route route = route_of(std::move(method), std::move(path), std::move(id), std::move(summary));
  route.permission = Permission::run;
  route.parameters = {owner_parameter()};
  return route;
}

Value schedule_schema(std::initializer_list<std::string_view> required = {}) {
  Value schema = body_schema<ScheduleBody>(required);
  refer_to_names(schema, "overlap", "Overlap");
  return schema;
}

// A change does not rename a schedule.
Value change_schema() {
  Value schema = schedule_schema();
  Value::Object& members = *schema.as_object();
  members.at("properties").as_object()->erase("name");
  return schema;
}

Parameter after_parameter() {
  return query_parameter("after", "`next` of the previous page",
                         Value::object({{"type", "string"}}));
}

std::string after_in(const Call& call) {
  auto found = call.query.find("after");
  return found == call.query.end() ? std::string() : found->second;
}

Route create_schedule() {
  Route route =
      changing_route("POST", "/api/schedules", "createSchedule", "Creation of a schedule");
  route.body = schedule_schema({"name", "expression", "agent"});
  route.answers = {{201, "Created; the Location header contains its address", "Schedule"},
                   {200, "It existed, with the same members", "Schedule"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(UserId owner, owner_in(call));
    BELAY_CO_TRY(ScheduleBody body, read_body<ScheduleBody>(call));
    std::string name = body.name.value_or("");
    BELAY_CO_CHECK(check_name("name", name));
    Schedules& schedules = call.service.schedules();
    UserId user = owner;
    std::string wanted = name;
    auto before = co_await schedules.show(call.who, std::move(user), std::move(wanted), 1);
    bool is_new = !before.ok() && before.error().code == ErrorCode::not_found;
    if (!before.ok() && !is_new) co_return std::move(before).error();
    ScheduleChange change = schedule_change_of(std::move(body));
    wanted = name;
    BELAY_CO_TRY(ScheduleView view, co_await schedules.add(call.who, std::move(owner),
                                                           std::move(wanted), std::move(change)));
    Reply reply = reply_with(schedule_document(view));
    reply.status = is_new ? 201 : 200;
    reply.headers.push_back({"Location", "/api/schedules/" + percent_encoded(name)});
    co_return std::move(reply);
  };
  return route;
}

Route list_schedules() {
  Route route = route_of("GET", "/api/schedules", "listSchedules",
                         "Schedules, ordered by user and name, with their next ticks");
  route.parameters = {named_user_parameter(), after_parameter(),
                      limit_parameter(kSchedulesDefault, kListMax)};
  route.answers = {{200, "A page; `next` is the `after` of the next page", "ScheduleList"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    SchedulePage page;
    BELAY_CO_TRY(page.user, named_user_in(call));
    page.after = after_in(call);
    BELAY_CO_TRY(std::int64_t limit,
                 int_parameter(call.query, "limit", kSchedulesDefault, 1, kListMax));
    page.limit = static_cast<std::size_t>(limit);
    BELAY_CO_TRY(ListedSchedules listed,
                 co_await call.service.schedules().list(call.who, std::move(page)));
    co_return reply_with(schedules_document(listed));
  };
  return route;
}

Route show_schedule() {
  Route route = route_of("GET", std::string(kSchedulePath), "getSchedule",
                         "One schedule with its next ticks");
  Value number = Value::object({{"type", "integer"}, {"minimum", 1}, {"maximum", kNextMax}});
  route.parameters = {owner_parameter(),
                      query_parameter("count", "Number of the next ticks", std::move(number))};
  route.answers = {{200, "The schedule", "Schedule"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(UserId owner, owner_in(call));
    BELAY_CO_TRY(std::int64_t count, int_parameter(call.query, "count", kNextDefault, 1, kNextMax));
    std::string name = call.path.at("name");
    BELAY_CO_TRY(ScheduleView view,
                 co_await call.service.schedules().show(call.who, std::move(owner), std::move(name),
                                                        static_cast<std::size_t>(count)));
    co_return reply_with(schedule_document(view));
  };
  return route;
}

Route edit_schedule() {
  Route route = changing_route("PATCH", std::string(kSchedulePath), "editSchedule",
                               "Changes to a schedule, also its pause; omitted members remain "
                               "unchanged");
  route.body = change_schema();
  route.answers = {{200, "The changed schedule", "Schedule"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(UserId owner, owner_in(call));
    BELAY_CO_TRY(ScheduleBody body, read_body<ScheduleBody>(call));
    ScheduleChange change = schedule_change_of(std::move(body));
    std::string name = call.path.at("name");
    BELAY_CO_TRY(ScheduleView view,
                 co_await call.service.schedules().edit(call.who, std::move(owner), std::move(name),
                                                        std::move(change)));
    co_return reply_with(schedule_document(view));
  };
  return route;
}

Route delete_schedule() {
  Route route = changing_route("DELETE", std::string(kSchedulePath), "deleteSchedule",
                               "Deletion of a schedule with its ticks; its runs continue");
  route.answers = {{200, "Deleted", "DeletedSchedule"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(UserId owner, owner_in(call));
    std::string name = call.path.at("name");
    Value document = Value::object({{"name", name}});
    BELAY_CO_CHECK(
        co_await call.service.schedules().remove(call.who, std::move(owner), std::move(name)));
    co_return reply_with(std::move(document));
  };
  return route;
}

Route run_schedule(ApiContext& world) {
  Route route = changing_route("POST", std::string(kSchedulePath) + "/run", "runSchedule",
                               "A run of the schedule now, in its queue");
  route.begins_run = true;
  route.parameters.push_back(
      idempotency_key_parameter("Name of the run: a repeated request with the same key finds it"));
  route.body = empty_body_schema();
  route.answers = {{202, "The run is queued, or that of the key", "Run"}};
  route.handle = with(world, [](ApiContext& served, Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(UserId owner, owner_in(call));
    std::string key(call.request.header("Idempotency-Key"));
    if (!key.empty()) BELAY_CO_CHECK(check_name("Idempotency-Key", key));
    if (key.empty()) key = random_uuid(served.parts.random).text();
    std::string name = call.path.at("name");
    auto view = co_await call.service.schedules().run_now(call.who, std::move(owner),
                                                          std::move(name), std::move(key));
    keep_if_begun(call, view);
    if (!view.ok()) co_return std::move(view).error();
    Reply reply = reply_with(run_document(*view, served.options.extras));
    reply.status = 202;
    reply.headers.push_back({"Location", "/api/threads/" + percent_encoded(view->row.thread.text)});
    co_return std::move(reply);
  });
  return route;
}

Route backfill_schedule() {
  Route route = changing_route("POST", std::string(kSchedulePath) + "/backfill", "backfillSchedule",
                               "Runs of the past ticks after `after` and up to `until` that have "
                               "none; with `dryRun`, only their number");
  route.begins_run = true;
  route.body = body_schema<BackfillBody>({"after", "until"});
  route.answers = {{200, "The ticks of the range, and the runs that were started", "Backfill"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(UserId owner, owner_in(call));
    BELAY_CO_TRY(BackfillBody body, read_body<BackfillBody>(call));
    BackfillRange range;
    range.after = body.after;
    range.until = body.until;
    range.dry_run = body.dryRun.value_or(false);
    std::string name = call.path.at("name");
    BELAY_CO_TRY(Backfill backfill, co_await call.service.schedules().backfill(
                                        call.who, std::move(owner), std::move(name), range));
    if (call.start && backfill.started > 0) call.start->keep();
    co_return reply_with(backfill_document(backfill));
  };
  return route;
}

Route list_ticks() {
  Route route = route_of("GET", std::string(kSchedulePath) + "/ticks", "listScheduleTicks",
                         "Decided ticks of a schedule, newest first");
  route.parameters = {owner_parameter(), after_parameter(),
                      limit_parameter(kTicksDefault, kListMax)};
  route.answers = {{200, "A page; `next` is the `after` of the next page", "ScheduleTickList"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(UserId owner, owner_in(call));
    BELAY_CO_TRY(std::int64_t limit,
                 int_parameter(call.query, "limit", kTicksDefault, 1, kListMax));
    std::string name = call.path.at("name"), after = after_in(call);
    BELAY_CO_TRY(ScheduleTicks page, co_await call.service.schedules().ticks(
                                         call.who, std::move(owner), std::move(name),
                                         std::move(after), static_cast<std::size_t>(limit)));
    co_return reply_with(schedule_ticks_document(page));
  };
  return route;
}

}  // namespace

std::vector<Route> schedule_routes(ApiContext& world) {
  std::vector<Route> routes;
  routes.push_back(create_schedule());
  routes.push_back(list_schedules());
  routes.push_back(show_schedule());
  routes.push_back(edit_schedule());
  routes.push_back(delete_schedule());
  routes.push_back(run_schedule(world));
  routes.push_back(backfill_schedule());
  routes.push_back(list_ticks());
  return routes;
}

}  // namespace belay::server
