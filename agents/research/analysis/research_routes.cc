#include "agents/research/analysis/research_routes.h"

#include "agents/research/analysis/analysis_documents.h"
#include "agents/research/analysis/report_document.h"
#include "agents/research/analysis/request_body.h"
#include "agents/research/report/html_report.h"
#include "agents/research/report/markdown_report.h"
#include "belay/module.h"

namespace belay::research {
namespace {

constexpr auto kAnalysesMax = static_cast<std::int64_t>(limits::list_rows_max);
constexpr std::int64_t kAnalysesDefault = 50;
constexpr std::string_view kAnalysisPath = "/api/analyses/{analysisId}";

Value type_of_text() { return Value::object({{"type", "string"}}); }

std::string query_member(const RouteCall& call, std::string_view name) {
  auto found = call.query.find(name);
  return found == call.query.end() ? std::string() : found->second;
}

AnalysisAccess access_of_caller(RouteCall& call) {
  return AnalysisAccess{call.service, call.who, call.who.user};
}

ModuleRoute route_of_analysis(std::string method, std::string_view verb, std::string id,
                              std::string summary) {
  return route_of(std::move(method), std::string(kAnalysisPath) + std::string(verb), std::move(id),
                  std::move(summary));
}

std::vector<ResponseSpec> run_answers() {
  return {{200, "The analysis has ended; `error` is set if it has failed", "AnalysisSummary"},
          {202, "It waits for a decision, or is in progress", "AnalysisSummary"}};
}

Result<RouteReply> summary_reply(const RunView& run) {
  BELAY_TRY(Analysis state, decode_json<Analysis>(run.state));
  RouteReply reply = route_reply(summary_document(run, state));
  reply.status = is_final(run.row.status) ? 200 : 202;
  reply.headers.push_back({"Location", address_of(kAnalysisPath, run.row.thread.text)});
  return reply;
}

Task<Result<RouteReply>> create_analysis(RouteCall& call) {
  BELAY_CO_TRY(UserId owner, owner_in(call));
  BELAY_CO_TRY(AnalysisRequest request, request_in(call));
  Instant now = call.clock().now();
  std::string id = new_analysis_id(owner, call.header("Idempotency-Key"), request, now);
  BELAY_CO_TRY(StartRun start, prepare_analysis(owner, id, request));
  AnalysisAccess at{call.service, call.who, std::move(owner)};
  std::string key = id;
  BELAY_CO_TRY(bool is_new,
               co_await list_new_analysis(at, std::move(key), std::move(request), now));
  auto view = co_await call.start(std::move(start));
  if (view.ok()) co_return summary_reply(*view);
  if (is_new) {
    // After a start that is repeated and succeeds, the run lists itself.
    auto removed = co_await remove_from_list(at, std::move(id));
    if (!removed.ok()) co_return std::move(removed).error();
  }
  co_return std::move(view).error();
}

ModuleRoute create_analysis_route() {
  ModuleRoute route =
      route_of("POST", "/api/analyses", "createAnalysis", "Start of the analysis of a company");
  route.permission = Permission::run;
  route.begins_run = true;
  route.parameters = start_parameters();
  route.parameters.push_back(owner_parameter());
  route.body = analysis_body_schema();
  route.answers = run_answers();
  route.handle = create_analysis;
  return route;
}

Task<Result<RouteReply>> create_batch(RouteCall& call) {
  BELAY_CO_TRY(UserId owner, owner_in(call));
  Instant now = call.clock().now();
  BELAY_CO_TRY(BatchOrder order, batch_in(call, owner, now));
  BELAY_CO_TRY(std::vector<BatchMember> members, check_batch(owner, order));
  AnalysisAccess at{call.service, call.who, std::move(owner)};
  BELAY_CO_CHECK(co_await list_batch(at, members, now));
  // The first one counts against the limits of starts.
  BELAY_CO_TRY(StartRun first, prepare_member(at.owner, order.queue, members.front()));
  BELAY_CO_CHECK(co_await call.start(std::move(first)));
  std::string queue = order.queue;
  BELAY_CO_CHECK(co_await start_batch(at, std::move(queue), members));
  BELAY_CO_TRY(std::vector<ListedAnalysis> all, co_await batch_states(at, members));
  Value::Array documents;
  for (const ListedAnalysis& each : all) documents.push_back(listed_document(each));
  RouteReply reply = route_reply(Value::object(
      {{"batch", order.batch}, {"queue", order.queue}, {"analyses", std::move(documents)}}));
  reply.status = 202;
  co_return std::move(reply);
}

ModuleRoute create_batch_route() {
  ModuleRoute route = route_of("POST", "/api/analyses/batch", "createAnalysisBatch",
                               "Start of the analyses of up to 1,000 companies, in a queue");
  route.permission = Permission::run;
  route.begins_run = true;
  route.parameters = start_parameters();
  route.parameters.push_back(owner_parameter());
  route.body = batch_body_schema();
  route.answers = {{202, "All are queued, or were started before", "AnalysisBatch"}};
  route.handle = create_batch;
  return route;
}

Task<Result<RouteReply>> list_page_of_analyses(RouteCall& call) {
  BELAY_CO_TRY(UserId owner, owner_in(call));
  BELAY_CO_TRY(std::int64_t limit,
               int_parameter(call.query, "limit", kAnalysesDefault, 1, kAnalysesMax));
  AnalysisAccess at{call.service, call.who, std::move(owner)};
  std::string batch = query_member(call, "batch"), after = query_member(call, "after");
  BELAY_CO_TRY(AnalysisListPage page, co_await list_analyses(at, std::move(batch), std::move(after),
                                                             static_cast<std::size_t>(limit)));
  co_return route_reply(list_document(page));
}

ModuleRoute list_analyses_route() {
  ModuleRoute route =
      route_of("GET", "/api/analyses", "listAnalyses", "Analyses of a user, newest first");
  route.parameters = {
      owner_parameter(),
      query_parameter("batch", "Only those of this batch, ordered by id", type_of_text()),
      query_parameter("after", "`next` of the previous page", type_of_text()),
      limit_parameter(kAnalysesDefault, kAnalysesMax)};
  route.answers = {{200, "A page; `next` is the `after` of the next page", "AnalysisList"}};
  route.handle = list_page_of_analyses;
  return route;
}

Task<Result<RouteReply>> show_analysis(RouteCall& call) {
  AnalysisAccess at = access_of_caller(call);
  std::string id = call.path.at("analysisId");
  BELAY_CO_TRY(AnalysisView view, co_await find_analysis(at, std::move(id)));
  co_return route_reply(analysis_document(view));
}

ModuleRoute show_analysis_route() {
  ModuleRoute route = route_of_analysis(
      "GET", "", "getAnalysis", "An analysis: progress, findings and figures; also in progress");
  route.answers = {{200, "The analysis", "Analysis"}};
  route.handle = show_analysis;
  return route;
}

Task<Result<RouteReply>> report_analysis(RouteCall& call) {
  std::string format = query_member(call, "format");
  if (format.empty()) format = "html";
  if (format != "html" && format != "markdown") {
    co_return error(ErrorCode::invalid, "\"format\" must be html or markdown.");
  }
  AnalysisAccess at = access_of_caller(call);
  std::string id = call.path.at("analysisId");
  BELAY_CO_TRY(AnalysisView view, co_await find_analysis(at, std::move(id)));
  AnalysisDocument document = report_document(view, call.clock().now());
  std::string text = format == "html" ? html_report(document) : markdown_report(document);
  co_return route_reply(Value::object(
      {{"analysis", view.run.row.thread.text}, {"format", format}, {"text", std::move(text)}}));
}

ModuleRoute report_route() {
  ModuleRoute route = route_of_analysis("GET", "/report", "getAnalysisReport",
                                        "The report of an analysis, as a text in a document");
  Value formats = Value::object({{"type", "string"}, {"enum", Value::Array{"html", "markdown"}}});
  route.parameters = {query_parameter("format", "html (default) or markdown", std::move(formats))};
  route.answers = {{200, "The report", "AnalysisReport"}};
  route.handle = report_analysis;
  return route;
}

Task<Result<RouteReply>> pause_by_request(RouteCall& call) {
  AnalysisAccess at = access_of_caller(call);
  std::string id = call.path.at("analysisId");
  Instant now = call.clock().now();
  BELAY_CO_CHECK(co_await pause_analysis(at, std::move(id), now));
  id = call.path.at("analysisId");
  BELAY_CO_TRY(AnalysisView view, co_await find_progress(at, std::move(id)));
  co_return route_reply(pause_document(view));
}

ModuleRoute pause_route() {
  ModuleRoute route = route_of_analysis("POST", "/pause", "pauseAnalysis",
                                        "Pauses an analysis before its next subtasks");
  route.permission = Permission::run;
  route.body = empty_body_schema();
  route.answers = {{200, "It pauses", "AnalysisPause"}};
  route.handle = pause_by_request;
  return route;
}

// Makes a decision, also again: a repeated request gets the answer of the first one.
Task<Result<RouteReply>> decide_by_request(RouteCall& call, AnalysisDecision made) {
  BELAY_CO_TRY(DecisionResult decided,
               co_await call.decide(made.interrupt, std::move(made.decision)));
  if (auto refused = call.refusal(decided)) co_return *std::move(refused);
  co_return summary_reply(decided.view);
}

// Returns the approval that the run waits for, or its most recent one; nullopt if it had none.
Task<Result<std::optional<ApprovalRow>>> newest_approval(RouteCall& call, const RunView& run) {
  if (run.approval) co_return run.approval;
  Whose any;
  ThreadId thread = run.row.thread;
  auto found = co_await call.service.approval_of(call.who, std::move(thread), std::move(any));
  if (found.ok()) co_return std::optional<ApprovalRow>(*std::move(found));
  bool has_none =
      found.error().code == ErrorCode::not_found || found.error().code == ErrorCode::conflict;
  if (!has_none) co_return std::move(found).error();
  co_return std::optional<ApprovalRow>();
}

// Returns whether a repetition of the request that made this decision waits for the run.
bool is_resume(const RunView& run, const ApprovalRow& approval) {
  if (run.approval) return true;
  return approval.status == ApprovalStatus::approved && edited_of(approval).is_null();
}

Task<Result<RouteReply>> resume_by_request(RouteCall& call) {
  AnalysisAccess at = access_of_caller(call);
  std::string id = call.path.at("analysisId");
  BELAY_CO_CHECK(co_await end_pause(at, std::move(id)));
  id = call.path.at("analysisId");
  BELAY_CO_TRY(AnalysisView view, co_await find_progress(at, std::move(id)));
  BELAY_CO_TRY(std::optional<ApprovalRow> approval, co_await newest_approval(call, view.run));
  if (!approval || !is_resume(view.run, *approval)) co_return summary_reply(view.run);
  co_return co_await decide_by_request(call, resume_decision(at, *approval));
}

ModuleRoute resume_route() {
  ModuleRoute route = route_of_analysis(
      "POST", "/resume", "resumeAnalysis",
      "Ends a pause, and approves the gate or the execution of unfinished subtasks");
  route.permission = Permission::decide;
  route.parameters = {prefer_parameter()};
  route.body = empty_body_schema();
  route.answers = run_answers();
  route.handle = resume_by_request;
  return route;
}

// Returns the decision of an earlier request for the same specialist that the run has continued
// with; nullopt if the newest decision is another one.
std::optional<AnalysisDecision> made_before(const AnalysisAccess& at, const ApprovalRow& approval,
                                            const std::string& specialist) {
  if (approval.status != ApprovalStatus::approved) return std::nullopt;
  std::optional<AnalysisDecision> made = decision_to_retry(at, approval, specialist);
  if (!made || !made->decision.edited || edited_of(approval) != *made->decision.edited) {
    return std::nullopt;
  }
  return made;
}

Task<Result<RouteReply>> retry_by_request(RouteCall& call) {
  BELAY_CO_TRY(RetryBody body, read_body<RetryBody>(call));
  std::string specialist = body.specialist.value_or("");
  BELAY_CO_CHECK(check_specialist(specialist));
  AnalysisAccess at = access_of_caller(call);
  std::string id = call.path.at("analysisId");
  BELAY_CO_TRY(AnalysisView view, co_await find_progress(at, std::move(id)));
  if (!view.run.approval) {
    BELAY_CO_TRY(std::optional<ApprovalRow> newest, co_await newest_approval(call, view.run));
    std::optional<AnalysisDecision> earlier;
    if (newest) earlier = made_before(at, *newest, specialist);
    if (earlier) co_return co_await decide_by_request(call, *std::move(earlier));
  }
  BELAY_CO_TRY(AnalysisDecision made, retry_decision(at, view.run, specialist));
  co_return co_await decide_by_request(call, std::move(made));
}

ModuleRoute retry_route() {
  ModuleRoute route =
      route_of_analysis("POST", "/retry", "retryAnalysis",
                        "Executes the remaining subtasks of one specialist that did not finish");
  route.permission = Permission::decide;
  route.parameters = {prefer_parameter()};
  route.body = retry_body_schema();
  route.answers = run_answers();
  route.handle = retry_by_request;
  return route;
}

}  // namespace

std::vector<ModuleRoute> research_routes() {
  std::vector<ModuleRoute> routes;
  routes.push_back(create_analysis_route());
  routes.push_back(create_batch_route());
  routes.push_back(list_analyses_route());
  routes.push_back(show_analysis_route());
  routes.push_back(report_route());
  routes.push_back(pause_route());
  routes.push_back(resume_route());
  routes.push_back(retry_route());
  return routes;
}

}  // namespace belay::research
