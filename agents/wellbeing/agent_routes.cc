#include "agents/wellbeing/agent_routes.h"

#include "agents/wellbeing/daily_auditor.h"
#include "agents/wellbeing/note_commands.h"
#include "agents/wellbeing/routine_generator.h"
#include "belay/module.h"

namespace belay::wellbeing {
// Bodies of requests. Not in the unnamed namespace below, because the codec reads the names of
// their members.

struct AgentBody {
  std::string date;
  std::optional<std::string> language;
  std::optional<std::string> timeZone;
  std::optional<std::string> threadId;
  std::optional<std::int64_t> maxRetries;
  std::optional<bool> requiresHumanApproval;
  std::optional<std::int64_t> timeout;  // in milliseconds
};

namespace {

constexpr auto kHistoryListMax = static_cast<std::int64_t>(limits::list_rows_max);  // of a page
constexpr std::string_view kNotFound = "Execution thread not found or expired";

// Messages about the runs of an agent.
struct Sentences {
  std::string_view waits, saved, nothing, rejected, expired, failed, at_work, approved, cancelled;
};
constexpr Sentences kAuditEnglish{"The analysis is done and waits for approval",
                                  "The daily audit is done",
                                  "There are no notes on that day",
                                  "The analysis was rejected; nothing was saved",
                                  "The approval has expired; nothing was saved",
                                  "The daily audit has failed",
                                  "The daily audit is in progress",
                                  "Approved and done",
                                  "Cancelled"};
constexpr Sentences kAuditSpanish{"Análisis completado, esperando aprobación",
                                  "Auditoría diaria completada",
                                  "No hay notas de ese día",
                                  "El análisis fue rechazado; no se guardó nada",
                                  "La aprobación ha caducado; no se guardó nada",
                                  "La auditoría diaria ha fallado",
                                  "La auditoría diaria está en curso",
                                  "Ejecución aprobada y completada",
                                  "Ejecución cancelada"};
constexpr Sentences kRoutineEnglish{"The routine is made and waits for approval",
                                    "The routine is done",
                                    "There is nothing to plan",
                                    "The routine was rejected; nothing was saved",
                                    "The approval has expired; nothing was saved",
                                    "The routine has failed",
                                    "The routine is in progress",
                                    "Approved and done",
                                    "Cancelled"};
constexpr Sentences kRoutineSpanish{"Rutina generada, esperando aprobación",
                                    "Rutina completada",
                                    "No hay nada que planificar",
                                    "La rutina fue rechazada; no se guardó nada",
                                    "La aprobación ha caducado; no se guardó nada",
                                    "La rutina ha fallado",
                                    "La rutina está en curso",
                                    "Ejecución aprobada y completada",
                                    "Ejecución cancelada"};

// One of the two agents, and its names in URLs and documents.
struct Agent {
  std::string_view graph;
  std::string_view path;    // in URLs of its runs
  std::string_view result;  // its result in the state, and in the response
  std::string_view name;
  const Sentences& english;
  const Sentences& spanish;
};
const Agent kAudit{kDailyAuditor, "daily-audit", "analysis",
                   "analysis",    kAuditEnglish, kAuditSpanish};
const Agent kRoutine{kRoutineGenerator, "routine",       "formattedRoutine",
                     "routine",         kRoutineEnglish, kRoutineSpanish};

// Uses Accept-Language if it contains one of the two languages; else the server's language.
const Sentences& sentences_for(const Agent& agent, const RouteCall& call) {
  std::string_view wanted = accepted_language(call.header("Accept-Language"), {"en", "es"});
  bool is_spanish =
      wanted.empty() ? call.settings().language == belay::Language::es : wanted == "es";
  return is_spanish ? agent.spanish : agent.english;
}

std::string_view sentence_of(const Sentences& sentences, const RunRow& row) {
  switch (row.status) {
    case RunStatus::paused:
      return sentences.waits;
    case RunStatus::failed:
    case RunStatus::quarantined:
      return sentences.failed;
    case RunStatus::cancelled:
      return sentences.cancelled;
    case RunStatus::queued:
    case RunStatus::running:
      return sentences.at_work;
    case RunStatus::completed:
      break;
  }
  if (row.outcome == "nothing_to_do") return sentences.nothing;
  if (row.outcome == "rejected") return sentences.rejected;
  if (row.outcome == "expired") return sentences.expired;
  return sentences.saved;
}

RouteReply agent_reply(const RouteCall& call, const Agent& agent, std::string_view message,
                       const RunView& view) {
  const RunRow& row = view.row;
  Value run = call.document(view);
  if (row.status == RunStatus::failed) {
    std::string detail = std::string(message) + ": " + row.error;
    return problem_reply(500, row.error_code, std::move(detail),
                         Value::object({{"threadId", row.thread.text}, {"run", run}}));
  }
  RouteReply reply;
  bool has_ended = is_final(row.status);
  reply.status = has_ended ? 200 : 202;
  Value::Object members{{"message", message},
                        {"threadId", row.thread.text},
                        {"status", name_of(row.status)},
                        {"outcome", run["outcome"]},
                        {std::string(agent.name), view.state[agent.result]},
                        {"approval", run["approval"]},
                        {"run", run}};
  // The specification has a second name for the result of a completed audit.
  if (agent.name == "analysis" && has_ended) members.emplace("summary", view.state[agent.result]);
  reply.document = Value(std::move(members));
  return reply;
}

Result<StartRun> start_of(const Agent& agent, const RouteCall& call) {
  BELAY_TRY(AgentBody body, read_body<AgentBody>(call));
  StartRun start;
  start.agent = agent.graph;
  start.input = Value::object({{"date", body.date},
                               {"language", body.language.value_or("")},
                               {"timeZone", body.timeZone.value_or("")}});
  start.user = call.who.user;
  if (body.threadId) {
    BELAY_CHECK(check_name("threadId", *body.threadId));
    start.thread = ThreadId(*body.threadId);
  }
  start.run.max_retries = attempts_from(body.maxRetries);
  start.run.timeout = time_from(body.timeout);
  start.run.require_approval = body.requiresHumanApproval;
  return start;
}

std::vector<ResponseSpec> run_answers() {
  return {{200, "The run has ended", "AgentRun"},
          {202, "The run waits for a decision or is still in progress", "AgentRun"},
          {500, "The run has failed", "Problem", "application/problem+json"}};
}

Task<Result<RouteReply>> start(const Agent& agent, RouteCall& call) {
  BELAY_CO_TRY(StartRun wanted, start_of(agent, call));
  BELAY_CO_TRY(RunView view, co_await call.start(std::move(wanted)));
  const Sentences& sentences = sentences_for(agent, call);
  co_return agent_reply(call, agent, sentence_of(sentences, view.row), view);
}

ModuleRoute start_agent(const Agent& agent, std::string path, std::string id, std::string summary) {
  ModuleRoute route = route_of("POST", std::move(path), std::move(id), std::move(summary));
  route.permission = Permission::run;
  route.begins_run = true;
  route.parameters = start_parameters();
  route.body = body_schema<AgentBody>({"date"});
  route.answers = run_answers();
  route.handle = [&agent](RouteCall& call) { return start(agent, call); };
  return route;
}

// Returns the error for a thread that does not exist, with the text of the specification.
Error thread_error(Error failed) {
  if (failed.code == ErrorCode::not_found) failed.message = kNotFound;
  return failed;
}

const Agent* agent_of(std::string_view graph) {
  if (graph == kAudit.graph) return &kAudit;
  return graph == kRoutine.graph ? &kRoutine : nullptr;
}

// `only`: if set, threads of the other agent are rejected.
Task<Result<RouteReply>> approve(const Agent* only, RouteCall& call) {
  BELAY_CO_TRY(Decision decision, decision_of(call));
  ThreadId thread(call.path.at("threadId"));
  Whose any;
  auto row = co_await call.service.approval_of(call.who, std::move(thread), std::move(any));
  std::string graph = row.ok() ? row->graph : std::string();
  if (!row.ok() && row.error().code == ErrorCode::conflict) {
    ThreadId asking(call.path.at("threadId"));
    auto run = co_await call.service.run_of(call.who, std::move(asking), std::nullopt);
    if (run.ok()) graph = run->graph;
  }
  const Agent* agent = agent_of(graph);
  if (!agent || (only && only != agent)) {
    co_return error(ErrorCode::not_found, std::string(kNotFound));
  }
  if (!row.ok()) co_return thread_error(std::move(row).error());
  InterruptId interrupt = row->interrupt;
  BELAY_CO_TRY(DecisionResult answer, co_await call.decide(interrupt, std::move(decision)));
  if (auto refused = call.refusal(answer)) co_return *std::move(refused);
  // A decider of another user's run receives only the state that the approval showed.
  if (answer.view.state.is_null()) {
    Value shown = edited_of(answer.approval);
    if (shown.is_null()) shown = payload_of(answer.approval);
    answer.view.state = Value::object({{std::string(agent->result), std::move(shown)}});
  }
  const Sentences& sentences = sentences_for(*agent, call);
  // A decision can name its choice alone, without `approved`.
  bool approved = answer.approval.status == ApprovalStatus::approved;
  std::string_view message = approved ? sentences.approved : sentences.cancelled;
  if (!is_final(answer.view.row.status)) message = sentence_of(sentences, answer.view.row);
  if (answer.view.row.status == RunStatus::failed) message = sentences.failed;
  co_return agent_reply(call, *agent, message, answer.view);
}

ModuleRoute approve_agent(const Agent* only, std::string path, std::string id) {
  ModuleRoute route = route_of("POST", std::move(path), std::move(id),
                               "Decision on the thread's pending approval; resumes its run");
  route.permission = Permission::decide;
  route.parameters = {prefer_parameter()};
  route.body = body_schema<DecisionBody>({});
  route.answers = run_answers();
  route.answers.push_back({409, "The approval has another decision, has expired or is closed",
                           "LostDecision", "application/problem+json"});
  route.handle = [only](RouteCall& call) { return approve(only, call); };
  return route;
}

ModuleRoute agent_status() {
  ModuleRoute route = route_of("GET", "/api/agents/status/{threadId}", "getStatus",
                               "Status and state of the thread's run");
  route.is_of_store = true;
  route.answers = {{200, "The run", "Run"}};
  route.handle = [](RouteCall& call) -> Task<Result<RouteReply>> {
    ThreadId thread(call.path.at("threadId"));
    auto view = co_await call.service.status(call.who, std::move(thread), std::nullopt);
    if (!view.ok()) co_return thread_error(std::move(view).error());
    co_return call.reply(*view);
  };
  return route;
}

ModuleRoute agent_history() {
  ModuleRoute route = route_of("GET", "/api/agents/history/{threadId}", "getAgentHistory",
                               "Commits of the thread's run, newest first");
  route.parameters = history_parameters(kHistoryListMax);
  route.is_of_store = true;
  route.answers = {{200, "A page of commits", "History"}};
  route.handle = [](RouteCall& call) -> Task<Result<RouteReply>> {
    BELAY_CO_TRY(HistoryPage page, history_page_in(call, kHistoryListMax));
    std::size_t limit = page.limit;
    auto history = co_await call.service.history(call.who, std::move(page));
    if (!history.ok()) co_return thread_error(std::move(history).error());
    co_return route_reply(history_document(*history, limit));
  };
  return route;
}

ModuleRoute cancel_agent() {
  ModuleRoute route = route_of("POST", "/api/agents/cancel/{threadId}", "cancelAgent",
                               "Cancellation of the thread's run");
  route.permission = Permission::run;
  route.body = empty_body_schema();
  route.answers = {{200, "The run is cancelled", "Run"}};
  route.handle = [](RouteCall& call) -> Task<Result<RouteReply>> {
    ThreadId thread(call.path.at("threadId"));
    auto view = co_await call.service.cancel(call.who, std::move(thread), call.who.user.text, "",
                                             std::nullopt);
    if (!view.ok()) co_return thread_error(std::move(view).error());
    co_return route_reply(call.document(*view));
  };
  return route;
}

}  // namespace

Value agent_run_schema() {
  auto reference = [](std::string_view name) {
    return Value::object({{"$ref", "#/components/schemas/" + std::string(name)}});
  };
  auto or_null = [](Value type) {
    return Value::object(
        {{"anyOf", Value::Array{std::move(type), Value::object({{"type", "null"}})}}});
  };
  Value text = Value::object({{"type", "string"}});
  return Value::object(
      {{"type", "object"},
       {"properties", Value::object({{"message", text},
                                     {"threadId", text},
                                     {"status", reference("RunStatus")},
                                     {"outcome", or_null(text)},
                                     {"run", reference("Run")},
                                     {"approval", or_null(reference("Approval"))},
                                     {"analysis", true},
                                     {"routine", true},
                                     {"summary", true}})},
       {"required", Value::Array{"message", "threadId", "status", "outcome", "run"}}});
}

std::vector<ModuleRoute> agent_routes() {
  std::vector<ModuleRoute> routes;
  routes.push_back(start_agent(kAudit, "/api/agents/daily-audit", "startDailyAudit",
                               "Audit of the notes of a day"));
  routes.push_back(start_agent(kRoutine, "/api/agents/generate-routine", "generateRoutine",
                               "Routine for a day"));
  routes.push_back(approve_agent(nullptr, "/api/agents/approve/{threadId}", "approveThread"));
  for (const Agent* agent : {&kAudit, &kRoutine}) {
    std::string path = "/api/agents/" + std::string(agent->path) + "/{threadId}/approve";
    std::string id = agent == &kAudit ? "approveDailyAudit" : "approveRoutine";
    routes.push_back(approve_agent(agent, std::move(path), std::move(id)));
  }
  routes.push_back(agent_status());
  routes.push_back(agent_history());
  routes.push_back(cancel_agent());
  return routes;
}

}  // namespace belay::wellbeing
