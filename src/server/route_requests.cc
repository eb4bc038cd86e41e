// Functions of belay/route.h for handlers of modules; those of Belay use them, too.

#include "base/percent_encoding.h"
#include "server/problem.h"
#include "server/routes.h"

namespace belay {
Result<std::int64_t> int_parameter(const StringMap& query, std::string_view name,
                                   std::int64_t or_else, std::int64_t least, std::int64_t most) {
  auto found = query.find(name);
  if (found == query.end()) return or_else;
  // Text that is not a number is treated as out of range.
  return server::within(name, server::number_from(found->second).value_or(least - 1), least, most);
}

Parameter query_parameter(std::string name, std::string help, Value schema) {
  Parameter parameter;
  parameter.name = std::move(name);
  parameter.help = std::move(help);
  parameter.schema = std::move(schema);
  return parameter;
}

Parameter owner_parameter() {
  return query_parameter("userId", "User; the caller if omitted",
                         Value::object({{"type", "string"}}));
}

Result<UserId> owner_in(const RouteRequest& call) {
  BELAY_TRY(std::optional<UserId> named, server::named_user_in(call));
  return named.value_or(call.who.user);
}

Parameter limit_parameter(std::int64_t or_else, std::int64_t most) {
  return query_parameter(
      "limit", "Maximum number of rows",
      Value::object(
          {{"type", "integer"}, {"minimum", 1}, {"maximum", most}, {"default", or_else}}));
}

std::vector<Parameter> history_parameters(std::int64_t or_else) {
  return {query_parameter("before", "Only commits before this seq",
                          Value::object({{"type", "integer"}, {"minimum", 1}})),
          query_parameter("beforeRun",
                          "Run of that commit: only its commits, and those of older runs; the "
                          "newest run if omitted",
                          Value::object({{"type", "string"}, {"format", "uuid"}})),
          server::run_parameter(), limit_parameter(or_else, server::kListMax)};
}

Result<HistoryPage> history_page_in(const RouteRequest& call, std::int64_t or_else) {
  HistoryPage page;
  page.thread = server::thread_in(call);
  BELAY_TRY(std::int64_t limit, int_parameter(call.query, "limit", or_else, 1, server::kListMax));
  page.limit = static_cast<std::size_t>(limit);
  BELAY_TRY(page.run, server::named_run_in(call));
  BELAY_TRY(auto before_run, server::id_parameter(call, "beforeRun", "a run id"));
  if (before_run) page.before_run = RunId(*before_run);
  if (call.query.contains("before")) {
    BELAY_TRY(std::int64_t before, int_parameter(call.query, "before", 1, 1, server::kSeqMax));
    page.before_seq = static_cast<std::uint64_t>(before);
  }
  return page;
}

std::optional<int> attempts_from(const std::optional<std::int64_t>& member) {
  if (!member) return std::nullopt;
  // A number beyond `int` is as invalid as zero: the runtime rejects both, for every caller.
  return static_cast<int>(std::clamp<std::int64_t>(*member, 0, limits::run_attempts_max + 1));
}

std::optional<std::chrono::milliseconds> time_from(const std::optional<std::int64_t>& member) {
  if (!member) return std::nullopt;
  return std::chrono::milliseconds(*member);
}

Parameter prefer_parameter() {
  Parameter prefer = query_parameter("Prefer",
                                     "`wait=SECONDS`: respond within this time, even if the run is "
                                     "in progress; `respond-async`: respond immediately",
                                     Value::object({{"type", "string"}}));
  prefer.in = Parameter::In::header;
  return prefer;
}

std::vector<Parameter> start_parameters() {
  return {prefer_parameter(),
          server::idempotency_key_parameter(
              "Name of the run: a repeated request with the same key finds it")};
}

Result<Decision> decision_of(const RouteRequest& call) {
  BELAY_TRY(DecisionBody body, read_body<DecisionBody>(call));
  Decision decision;
  if (body.approved.has_value() == body.choice.has_value()) {
    return error(ErrorCode::invalid,
                 "A decision needs either \"approved\", true or false, or a \"choice\".");
  }
  decision.approved = body.approved.value_or(false);
  decision.choice = std::move(body.choice).value_or("");
  BELAY_CHECK(decision.choice.empty() ? Done{} : check_name("choice", decision.choice));
  decision.answer = std::move(body.answer);
  decision.decided_by = body.decidedBy.value_or(call.who.user.text);
  BELAY_CHECK(check_name("name in \"decidedBy\"", decision.decided_by));
  if (body.onBehalfOf) {
    BELAY_CHECK(check_name("name in \"onBehalfOf\"", *body.onBehalfOf));
    decision.on_behalf_of = *body.onBehalfOf;
  }
  decision.roles = std::move(body.roles).value_or(std::vector<std::string>());
  decision.comment = body.comment.value_or("");
  if (!body.edited.is_null()) decision.edited = std::move(body.edited);
  return decision;
}

Value empty_body_schema() {
  return Value::object({{"type", "object"},
                        {"properties", Value(Value::Object{})},
                        {"additionalProperties", false}});
}

ModuleRoute route_of(std::string method, std::string path, std::string id, std::string summary) {
  ModuleRoute route;
  route.method = std::move(method);
  route.path = std::move(path);
  route.id = std::move(id);
  route.summary = std::move(summary);
  return route;
}

std::string address_of(std::string_view path, std::string_view parameter) {
  std::size_t open = std::min(path.find('{'), path.size());
  std::size_t close = std::min(path.find('}', open), path.size() - 1);
  return std::string(path.substr(0, open)) + percent_encoded(parameter) +
         std::string(path.substr(close + 1));
}

RouteReply route_reply(Value document) {
  RouteReply reply;
  reply.document = std::move(document);
  return reply;
}

RouteReply problem_reply(int status, std::string code, std::string detail, Value details) {
  server::Reply failed;
  server::take_problem(
      server::problem(status, std::move(code), std::move(detail), std::move(details)), failed);
  return server::route_reply_of(std::move(failed));
}

}  // namespace belay
