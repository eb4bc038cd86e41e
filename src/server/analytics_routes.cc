// Routes of the usage of agents. The totals are those of all users: their routes need `administer`.

#include "belay/service.h"
#include "server/routes.h"
#include "usage/usage_reads.h"

namespace belay::server {
namespace {

// Returns the required text of a query.
Result<std::string> date_in(const Call& call, const std::string& name) {
  auto found = call.query.find(name);
  if (found != call.query.end() && is_date(found->second)) return found->second;
  return error(ErrorCode::invalid, "\"" + name + "\" must be a date, as YYYY-MM-DD.");
}

// Returns the number of days from the first to the last date, both included.
std::int64_t days_in_period(const std::string& first, const std::string& last) {
  auto start = instant_from(first + "T00:00:00Z").value_or(Instant());
  auto end = instant_from(last + "T00:00:00Z").value_or(Instant());
  return std::chrono::duration_cast<std::chrono::hours>(end - start).count() / 24 + 1;
}

// A period without daily entries can be longer.
Result<Done> check_daily(std::int64_t days) {
  if (days <= analytics::series_days_max) return Done{};
  return error(ErrorCode::invalid,
               "With \"daily\", the period from \"startDate\" to \"endDate\" can "
               "have at most " +
                   std::to_string(analytics::series_days_max) + " days: it has " +
                   std::to_string(days) + ".");
}

Value date_schema() { return Value::object({{"type", "string"}, {"format", "date"}}); }

Route usage_of_agents() {
  Route route = route_of("GET", "/api/analytics/agents", "getAgentUsage",
                         "Totals of each agent in a period of days (UTC), both included");
  route.permission = Permission::administer;
  route.parameters = {query_parameter("startDate", "First day, required", date_schema()),
                      query_parameter("endDate", "Last day, required", date_schema()),
                      query_parameter("daily",
                                      "true: with `usage`, an entry for each day, of all agents; "
                                      "at most 365 days",
                                      Value::object({{"type", "boolean"}}))};
  route.answers = {{200, "The agents with runs that ended in the period", "AgentUsageList"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(std::string first, date_in(call, "startDate"));
    BELAY_CO_TRY(std::string last, date_in(call, "endDate"));
    std::unique_ptr<Records> records = records_of(call.service, call.who, call.who.user);
    std::int64_t days = days_in_period(first, last);
    bool is_daily = bool_parameter(call.query, "daily");
    if (is_daily) BELAY_CO_CHECK(check_daily(days));
    std::string last_day = last;
    BELAY_CO_TRY(auto agents,
                 co_await usage::read_summary(*records, std::move(first), std::move(last)));
    Value document = usage::summary_document(agents);
    if (is_daily) {
      std::string all_agents;
      BELAY_CO_TRY(auto series, co_await usage::read_series(*records, std::move(all_agents),
                                                            std::move(last_day), days));
      Value daily = usage::series_document("", series);
      document.as_object()->insert_or_assign("usage", std::move(daily.as_object()->at("usage")));
    }
    co_return reply_with(std::move(document));
  };
  return route;
}

Task<Result<Reply>> daily_usage(ApiContext& world, Call call) {
  BELAY_CO_TRY(std::int64_t days, int_parameter(call.query, "days", analytics::series_days_default,
                                                1, analytics::series_days_max));
  std::string agent = call.path.at("id");
  std::string today = analytics::utc_date(world.parts.clock.now());
  std::unique_ptr<Records> records = records_of(call.service, call.who, call.who.user);
  std::string asked = agent;
  BELAY_CO_TRY(auto series,
               co_await usage::read_series(*records, std::move(asked), std::move(today), days));
  Reply reply = reply_with(usage::series_document(agent, series));
  reply.is_kept = false;
  co_return std::move(reply);
}

}  // namespace

std::vector<Route> analytics_routes(ApiContext& world) {
  Route daily = route_of("GET", "/api/analytics/agents/{id}/daily", "getDailyAgentUsage",
                         "Totals of an agent for each day (UTC) up to today");
  daily.permission = Permission::administer;
  daily.parameters = {query_parameter(
      "days", "Number of days (30; at most 365)",
      Value::object(
          {{"type", "integer"}, {"minimum", 1}, {"maximum", analytics::series_days_max}}))};
  daily.answers = {{200, "Each day, oldest first; zeros for a day without runs", "UsageDayList"}};
  daily.handle = with(world, daily_usage);
  std::vector<Route> routes;
  routes.push_back(usage_of_agents());
  routes.push_back(std::move(daily));
  return routes;
}

}  // namespace belay::server
