// Routes of approvals: listing, showing and deciding them.

#include "server/body.h"
#include "server/problem.h"
#include "server/routes.h"

namespace belay::server {
namespace {

constexpr std::int64_t kApprovalsDefault = 100;

// Changes with everything that a decider must have read: the payload and the status.
std::string tag_of(const ApprovalRow& row) {
  return "\"" + to_hex(row.payload_hash).substr(0, 32) + "-" + std::string(name_of(row.status)) +
         "\"";
}

Route list_approvals(ApiContext& world) {
  Route route =
      route_of("GET", "/api/approvals", "listApprovals", "Pending approvals, newest first");
  route.parameters = {query_parameter("all", "Include decided, expired and closed approvals",
                                      Value::object({{"type", "boolean"}, {"default", false}})),
                      query_parameter("before", "Last approval of the previous page",
                                      Value::object({{"type", "string"}, {"format", "uuid"}})),
                      named_user_parameter(), limit_parameter(kApprovalsDefault, kListMax)};
  route.answers = {
      {200, "A page of approvals; `next` is the `before` of the next page", "ApprovalList"}};
  route.handle = with(world, [](ApiContext& served, Call call) -> Task<Result<Reply>> {
    ApprovalPage page;
    page.only_open = !bool_parameter(call.query, "all");
    BELAY_CO_TRY(std::int64_t limit,
                 int_parameter(call.query, "limit", kApprovalsDefault, 1, kListMax));
    page.limit = static_cast<std::size_t>(limit);
    BELAY_CO_TRY(auto before, id_parameter(call, "before", "an approval id"));
    if (before) page.before = InterruptId(*before);
    BELAY_CO_TRY(page.user, named_user_in(call));
    BELAY_CO_TRY(std::vector<ApprovalRow> rows,
                 co_await call.service.approvals(call.who, std::move(page)));
    Value::Array approvals;
    for (const ApprovalRow& row : rows) {
      approvals.push_back(approval_document(row, served.options.extras));
    }
    Value next;
    if (rows.size() == static_cast<std::size_t>(limit)) next = rows.back().interrupt.text();
    co_return reply_with(
        Value::object({{"approvals", std::move(approvals)}, {"next", std::move(next)}}));
  });
  return route;
}

Reply show(ApiContext& world, const Call& call, const ApprovalRow& row) {
  Reply reply;
  set_tag(call, tag_of(row), reply);
  reply.document = approval_document(row, world.options.extras);
  return reply;
}

Route showing(std::string path, std::string id, std::string summary) {
  Route route = route_of("GET", std::move(path), std::move(id), std::move(summary));
  route.parameters = {named_user_parameter(), known_tag_parameter()};
  route.answers = {{200, "The approval, with its ETag", "Approval"}, {304, "Unchanged", ""}};
  return route;
}

Route show_approval(ApiContext& world) {
  Route route = showing("/api/approvals/{approvalId}", "getApproval",
                        "One approval, by its id, a prefix of it, or its thread");
  route.handle = with(world, [](ApiContext& served, Call call) -> Task<Result<Reply>> {
    Whose whose;
    BELAY_CO_TRY(whose.approvals, named_user_in(call));
    std::string id = call.path.at("approvalId");
    BELAY_CO_TRY(ApprovalRow row,
                 co_await call.service.approval(call.who, std::move(id), std::move(whose)));
    co_return show(served, call, row);
  });
  return route;
}

Route show_approval_of(ApiContext& world) {
  Route route = showing("/api/threads/{threadId}/approval", "getThreadApproval",
                        "Pending or newest approval of the thread's latest run");
  route.handle = with(world, [](ApiContext& served, Call call) -> Task<Result<Reply>> {
    Whose whose;
    BELAY_CO_TRY(whose.approvals, named_user_in(call));
    ThreadId thread = thread_in(call);
    BELAY_CO_TRY(ApprovalRow row,
                 co_await call.service.approval_of(call.who, std::move(thread), std::move(whose)));
    co_return show(served, call, row);
  });
  return route;
}

Route decide(ApiContext& world) {
  Route route = route_of("POST", "/api/approvals/{approvalId}/decision", "decide",
                         "Decision on an approval; resumes the run");
  route.permission = Permission::decide;
  route.body = body_schema<DecisionBody>({});
  Parameter condition = query_parameter("If-Match", "ETag of the approval that was shown",
                                        Value::object({{"type", "string"}}));
  condition.in = Parameter::In::header;
  route.parameters = {std::move(condition), prefer_parameter()};
  route.answers = {
      {200, "The decision was accepted, or is a duplicate", "Decision"},
      {409, "The approval has another decision, has expired or is closed", "LostDecision",
       "application/problem+json"},
      {412, "The approval has changed since it was shown", "Problem", "application/problem+json"}};
  route.handle = with(world, [](ApiContext& served, Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(Decision decision, decision_of(call));
    Whose any;
    std::string id = call.path.at("approvalId");
    BELAY_CO_TRY(ApprovalRow row,
                 co_await call.service.approval(call.who, std::move(id), std::move(any)));
    std::string_view shown = call.request.header("If-Match");
    if (!shown.empty() && !names_tag(shown, tag_of(row))) {
      Reply reply;
      take_problem(problem(412, "conflict", "The approval has changed since it was shown."), reply);
      co_return std::move(reply);
    }
    Patience patience = patience_of(served, preference_of(call.request));
    BELAY_CO_TRY(DecisionResult answer,
                 co_await decided(served, call.service, call.who, row.interrupt,
                                  std::move(decision), patience));
    if (auto lost = lost_decision(served, answer)) co_return *std::move(lost);
    co_return reply_with(decision_document(answer, served.options.extras));
  });
  return route;
}

}  // namespace

void take_problem(http::Response response, Reply& reply) {
  reply.status = response.status;
  reply.headers = std::move(response.headers);
  reply.document = parse_json(response.body).value_or(Value());
}

std::optional<Reply> lost_decision(const ApiContext& world, const DecisionResult& answer) {
  if (is_made(answer)) return std::nullopt;
  Error refused = error(ErrorCode::conflict, refusal_text(answer) + ".");
  Reply reply;
  take_problem(problem(refused, decision_document(answer, world.options.extras)), reply);
  return reply;
}

std::vector<Route> approval_routes(ApiContext& world) {
  std::vector<Route> routes;
  routes.push_back(list_approvals(world));
  routes.push_back(show_approval(world));
  routes.push_back(show_approval_of(world));
  routes.push_back(decide(world));
  return routes;
}

}  // namespace belay::server
