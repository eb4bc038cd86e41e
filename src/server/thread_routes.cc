// Routes of threads: their state, history and calls, and operations on them.
//
// Long on purpose: one short function for each route.

#include "base/percent_encoding.h"
#include "server/body.h"
#include "server/routes.h"
#include "service/run_request.h"
#include "service/steering.h"

namespace belay::server {
// Bodies of requests. Not in the unnamed namespace below, because the codec reads the names of
// their members.

struct CancelBody {
  std::optional<std::string> by;
  std::optional<std::string> onBehalfOf;
};

struct ResumeBody {
  std::optional<Breakpoints> breakpoints;  // replace those of a run at a breakpoint
  std::optional<std::int64_t> onlyAt;      // a run at another commit remains unchanged
  std::optional<bool> acceptChanges;       // of materials that its agent refuses
  std::optional<std::string> by;           // with acceptChanges, like those of a cancellation
  std::optional<std::string> onBehalfOf;
};

struct ThreadBody {
  std::optional<std::string> title;
  Value metadata;
  Value expiresAt;
};

struct ForkBody {
  std::optional<std::string> runId;
  std::optional<std::int64_t> seq;
  Value edits;
  std::optional<std::string> threadId;
  std::optional<std::string> userId;
  std::optional<std::vector<std::string>> roles;
  std::optional<bool> copy;
  std::optional<bool> preview;
  std::optional<bool> queued;
};

struct ImportBody {
  Value file;
  std::optional<bool> mayGoOn;
};

namespace {

constexpr std::int64_t kThreadsDefault = 20;
constexpr std::int64_t kThreadRunsDefault = 20;
constexpr std::int64_t kCommitsDefault = 100;

Route list_threads() {
  Route route = route_of("GET", "/api/threads", "listThreads", "Threads, newest first");
  route.parameters = {query_parameter("before", "Last thread of the previous page",
                                      Value::object({{"type", "string"}})),
                      named_user_parameter(), limit_parameter(kThreadsDefault, kListMax)};
  route.is_of_store = true;
  route.answers = {
      {200, "A page of threads; `next` is the `before` of the next page", "ThreadList"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    ThreadPage page;
    BELAY_CO_TRY(std::int64_t limit,
                 int_parameter(call.query, "limit", kThreadsDefault, 1, kListMax));
    page.limit = static_cast<std::size_t>(limit);
    if (auto found = call.query.find("before"); found != call.query.end()) {
      page.before = ThreadId(found->second);
    }
    BELAY_CO_TRY(page.user, named_user_in(call));
    BELAY_CO_TRY(std::vector<ListedThread> listed,
                 co_await call.service.threads(call.who, std::move(page)));
    Value::Array threads;
    for (const ListedThread& one : listed) threads.push_back(thread_document(one));
    Value next;
    if (listed.size() == static_cast<std::size_t>(limit)) next = listed.back().thread.thread.text;
    co_return reply_with(
        Value::object({{"threads", std::move(threads)}, {"next", std::move(next)}}));
  };
  return route;
}

Route show_thread(ApiContext& world) {
  Route route = route_of("GET", "/api/threads/{threadId}", "getThread",
                         "A thread and its current run, or another one; the run now, or after one "
                         "of its commits");
  route.parameters = {query_parameter("at", "Seq of the commit",
                                      Value::object({{"type", "integer"}, {"minimum", 1}})),
                      run_parameter()};
  route.is_of_store = true;
  route.answers = {{200, "The run with its state; `thread` describes the thread", "ThreadRun"}};
  route.handle = with(world, [](ApiContext& served, Call call) -> Task<Result<Reply>> {
    std::optional<std::uint64_t> seq;
    if (call.query.contains("at")) {
      BELAY_CO_TRY(std::int64_t at, int_parameter(call.query, "at", 1, 1, kSeqMax));
      seq = static_cast<std::uint64_t>(at);
    }
    BELAY_CO_TRY(std::optional<RunId> run, named_run_in(call));
    BELAY_CO_TRY(RunView view, co_await call.service.status(call.who, thread_in(call), seq, run));
    BELAY_CO_TRY(ListedThread listed, co_await call.service.thread(call.who, thread_in(call)));
    Reply reply = view_reply(served, view);
    reply.document.as_object()->emplace("thread", thread_details(listed));
    co_return std::move(reply);
  });
  return route;
}

Result<ThreadSettings> settings_in(const Call& call) {
  BELAY_TRY(ThreadBody body, read_body<ThreadBody>(call));
  ThreadSettings settings;
  settings.title = std::move(body.title);
  if (call.body.find("metadata")) {
    if (!body.metadata.as_object()) {
      return error(ErrorCode::invalid, "\"metadata\" must be an object.");
    }
    settings.metadata = std::move(body.metadata);
  }
  if (!call.body.find("expiresAt")) return settings;
  settings.expires_at = Instant{};
  if (body.expiresAt.is_null()) return settings;
  const std::string* text = body.expiresAt.as_string();
  settings.expires_at = text ? instant_from(*text) : std::nullopt;
  if (settings.expires_at) return settings;
  return error(ErrorCode::invalid,
               "\"expiresAt\" must be a time such as 2027-01-31T12:00:00Z, or null: never.");
}

Route edit_thread() {
  Route route = route_of("PATCH", "/api/threads/{threadId}", "editThread",
                         "Change of a thread's title, metadata or expiry");
  route.permission = Permission::run;
  route.body = body_schema<ThreadBody>();
  route.answers = {{200, "The thread", "ThreadDetails"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(ThreadSettings settings, settings_in(call));
    BELAY_CO_CHECK(
        co_await call.service.edit_thread(call.who, thread_in(call), std::move(settings)));
    BELAY_CO_TRY(ListedThread listed, co_await call.service.thread(call.who, thread_in(call)));
    co_return reply_with(thread_details(listed));
  };
  return route;
}

Route delete_thread() {
  Route route = route_of("DELETE", "/api/threads/{threadId}", "deleteThread",
                         "Deletion of a thread with all of its runs, which must have ended");
  route.permission = Permission::run;
  route.parameters = {query_parameter(
      "keep", "newest: only the runs before the newest one are deleted",
      Value::object({{"type", "string"}, {"enum", Value::Array{Value("newest")}}}))};
  route.answers = {{200, "Deleted", "DeletedThread"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    auto keep = call.query.find("keep");
    bool is_known = keep == call.query.end() || keep->second == "newest";
    if (!is_known) co_return error(ErrorCode::invalid, "\"keep\" must be newest.");
    KeptRuns kept = keep == call.query.end() ? KeptRuns::none : KeptRuns::newest;
    BELAY_CO_TRY(ThreadDeletion deleted,
                 co_await call.service.delete_thread(call.who, thread_in(call), kept));
    co_return reply_with(
        Value::object({{"threadId", call.path.at("threadId")}, {"runs", deleted.runs}}));
  };
  return route;
}

Route list_runs_of_thread() {
  Route route = route_of("GET", "/api/threads/{threadId}/runs", "listThreadRuns",
                         "Runs of a thread, newest first");
  route.parameters = {query_parameter("before", "Last run of the previous page",
                                      Value::object({{"type", "string"}, {"format", "uuid"}})),
                      limit_parameter(kThreadRunsDefault, kListMax)};
  route.is_of_store = true;
  route.answers = {{200, "A page of runs; `next` is the `before` of the next page", "RunList"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    RunPage page;
    page.thread = thread_in(call);
    BELAY_CO_TRY(std::int64_t limit,
                 int_parameter(call.query, "limit", kThreadRunsDefault, 1, kListMax));
    page.limit = static_cast<std::size_t>(limit);
    BELAY_CO_TRY(auto before, id_parameter(call, "before", "a run id"));
    if (before) page.before = RunId(*before);
    BELAY_CO_TRY(std::vector<RunRow> rows, co_await call.service.runs(call.who, std::move(page)));
    Value::Array runs;
    for (const RunRow& row : rows) runs.push_back(run_summary_with_input(row));
    Value next;
    if (rows.size() == static_cast<std::size_t>(limit)) next = rows.back().run.text();
    co_return reply_with(Value::object({{"runs", std::move(runs)}, {"next", std::move(next)}}));
  };
  return route;
}

Route show_history() {
  Route route = route_of("GET", "/api/threads/{threadId}/history", "getHistory",
                         "Commits of a thread over all of its runs, or of one run, newest first");
  route.parameters = history_parameters(kCommitsDefault);
  route.is_of_store = true;
  route.answers = {{200,
                    "A page of commits, and their runs; `next` has the `before` and the "
                    "`beforeRun` of the next page",
                    "History"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(HistoryPage page, history_page_in(call, kCommitsDefault));
    std::size_t limit = page.limit;
    BELAY_CO_TRY(std::vector<RunHistory> history,
                 co_await call.service.history(call.who, std::move(page)));
    co_return reply_with(history_document(history, limit));
  };
  return route;
}

Route show_calls() {
  Route route = route_of("GET", "/api/threads/{threadId}/calls", "getCalls",
                         "Model calls, costs and effects of a run of the thread");
  route.parameters = {run_parameter(), limit_parameter(kCommitsDefault, kListMax)};
  route.is_of_store = true;
  route.answers = {{200, "The first calls, in the order in which they were started", "CallList"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    CallPage page;
    page.thread = thread_in(call);
    BELAY_CO_TRY(page.run, named_run_in(call));
    BELAY_CO_TRY(std::int64_t limit,
                 int_parameter(call.query, "limit", kCommitsDefault, 1, kListMax));
    page.limit = static_cast<std::size_t>(limit);
    BELAY_CO_TRY(Value document, co_await call.service.calls(call.who, std::move(page)));
    co_return reply_with(std::move(document));
  };
  return route;
}

Result<std::optional<Consent>> consent_in(const ResumeBody& body, const Principal& who) {
  if (!body.acceptChanges.value_or(false)) {
    if (!body.by && !body.onBehalfOf) return std::optional<Consent>();
    return error(ErrorCode::invalid,
                 "\"by\" and \"onBehalfOf\" name who accepts changes: add "
                 "\"acceptChanges\": true.");
  }
  Consent consent{body.by.value_or(who.user.text), body.onBehalfOf.value_or("")};
  BELAY_CHECK(check_name("name in \"by\"", consent.by));
  if (body.onBehalfOf) BELAY_CHECK(check_name("name in \"onBehalfOf\"", consent.on_behalf_of));
  return std::optional(std::move(consent));
}

Route resume_thread(ApiContext& world) {
  Route route = route_of("POST", "/api/threads/{threadId}/resume", "resumeThread",
                         "Resumption of the thread's run from its last commit");
  route.permission = Permission::run;
  route.body = body_schema<ResumeBody>();
  route.parameters = {prefer_parameter()};
  route.answers = {{200, "The run has ended", "Run"},
                   {202, "The run is paused or still in progress", "Run"}};
  route.handle = with(world, [](ApiContext& served, Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(ResumeBody body, read_body<ResumeBody>(call));
    ThreadId thread = thread_in(call);
    Patience patience = patience_of(served, preference_of(call.request));
    std::optional<std::uint64_t> only_at;
    if (body.onlyAt) {
      BELAY_CO_TRY(std::int64_t seq, within("onlyAt", *body.onlyAt, 1, kSeqMax));
      only_at = static_cast<std::uint64_t>(seq);
    }
    BELAY_CO_TRY(std::optional<Consent> consent, consent_in(body, call.who));
    auto task = resume_or_look(call.service, call.who, thread, std::move(body.breakpoints), only_at,
                               std::move(consent));
    AwaitedRun awaited{std::move(thread)};
    BELAY_CO_TRY(RunView view, co_await await_run(served, call.service, call.who, std::move(task),
                                                  std::move(awaited), patience));
    co_return run_reply(served, view);
  });
  return route;
}

Route cancel_thread(ApiContext& world) {
  Route route = route_of("POST", "/api/threads/{threadId}/cancel", "cancelThread",
                         "Cancellation of a run of the thread, whichever process owns it");
  route.permission = Permission::run;
  route.parameters = {run_parameter()};
  route.body = body_schema<CancelBody>();
  route.answers = {{200, "The run is cancelled", "Run"}};
  route.handle = with(world, [](ApiContext& served, Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(CancelBody body, read_body<CancelBody>(call));
    std::string by = body.by.value_or(call.who.user.text);
    BELAY_CO_CHECK(check_name("name in \"by\"", by));
    std::string on_behalf_of = body.onBehalfOf.value_or("");
    if (body.onBehalfOf) BELAY_CO_CHECK(check_name("name in \"onBehalfOf\"", on_behalf_of));
    BELAY_CO_TRY(std::optional<RunId> run, named_run_in(call));
    BELAY_CO_TRY(RunView view,
                 co_await call.service.cancel(call.who, thread_in(call), std::move(by),
                                              std::move(on_behalf_of), run));
    Value document = run_document(view, served.options.extras);
    RunRow cancelled = view.row;
    co_await add_unused_steering(call.service, call.who, std::move(cancelled), document);
    co_return reply_with(std::move(document));
  });
  return route;
}

Result<ForkOptions> fork_options(const Call& call, ForkBody body) {
  ForkOptions options;
  options.from = thread_in(call);
  if (body.runId) {
    auto run = uuid_from(*body.runId);
    if (!run) {
      return error(ErrorCode::not_found, "Unknown run \"" + body.runId->substr(0, 40) + "\".");
    }
    options.run = RunId(*run);
  }
  if (body.seq && (*body.seq < 1 || *body.seq > kSeqMax)) {
    return error(ErrorCode::invalid, "\"seq\" must be the number of a commit.");
  }
  if (body.seq) options.seq = static_cast<std::uint64_t>(*body.seq);
  options.edits = std::move(body.edits);
  options.copy = body.copy.value_or(false);
  options.queued = body.queued.value_or(false);
  if (body.threadId) {
    BELAY_CHECK(check_name("threadId", *body.threadId));
    options.thread = ThreadId(*body.threadId);
  }
  if (body.userId) {
    BELAY_CHECK(check_name("userId", *body.userId));
    options.user = UserId(*body.userId);
  }
  options.roles = std::move(body.roles).value_or(std::vector<std::string>());
  if (options.copy && (options.seq || !options.edits.is_null() || body.preview.value_or(false))) {
    return error(ErrorCode::invalid, "\"copy\" excludes \"seq\", \"edits\" and \"preview\".");
  }
  return options;
}

// Forks, also if the request ends meanwhile. `count`: as in start_for().
Task<Result<RunView>> fork_for(Service& service, Principal who, ForkOptions options,
                               std::shared_ptr<StartCount> count) {
  (void)count;
  auto view = co_await service.fork(who, std::move(options));
  co_return std::move(view);
}

// A fork is found by its thread, which is new: the named one, or that of the key.
Task<bool> finds_fork(const Call& call) {
  std::string key(call.request.header("Idempotency-Key"));
  const std::string* named = call.body["threadId"].as_string();
  if (!named && key.empty()) co_return false;
  ThreadId thread = named ? ThreadId(*named) : thread_of_key(call.who.user, key);
  auto found = co_await call.service.run_of(call.who, std::move(thread), std::nullopt);
  co_return found.ok();
}

Route fork_thread(ApiContext& world) {
  Route route = route_of("POST", "/api/threads/{threadId}/fork", "forkThread",
                         "Fork: a new thread from a commit of this one");
  route.permission = Permission::run;
  route.begins_run = true;
  route.begins_run_by = [](const Call& call) { return call.body["preview"] != Value(true); };
  route.finds_run = finds_fork;
  route.body = body_schema<ForkBody>();
  route.parameters = start_parameters();
  route.answers = {{200, "The new run has ended; or, with `preview`, the report", "Run"},
                   {200, "The report", "ForkPreview"},
                   {202, "The new run is paused or still in progress", "Run"}};
  route.handle = with(world, [](ApiContext& served, Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(ForkBody body, read_body<ForkBody>(call));
    bool is_preview = body.preview.value_or(false);
    BELAY_CO_TRY(ForkOptions options, fork_options(call, std::move(body)));
    if (is_preview) {
      BELAY_CO_TRY(ForkPreview preview,
                   co_await call.service.preview(call.who, std::move(options)));
      co_return reply_with(preview_document(preview, served.options.extras));
    }
    UserId user = call.who.user;
    ThreadId named = std::move(options.thread);
    BELAY_CO_TRY(options.thread,
                 co_await thread_to_begin(served, call, std::move(named), std::move(user)));
    ThreadId thread = options.thread;
    Preference preference = preference_of(call.request);
    options.queued = options.queued || preference.is_async;
    Patience patience = patience_of(served, preference, options.queued);
    if (!options.queued) BELAY_CO_CHECK(co_await enter(call, thread, true));
    auto task = fork_for(call.service, call.who, std::move(options), call.start);
    AwaitedRun awaited{std::move(thread)};
    auto view = co_await await_run(served, call.service, call.who, std::move(task),
                                   std::move(awaited), patience);
    keep_if_begun(call, view);
    if (!view.ok()) co_return std::move(view).error();
    co_return run_reply(served, *view);
  });
  return route;
}

Route replay_thread() {
  Route route = route_of("POST", "/api/threads/{threadId}/replay", "replayThread",
                         "Replay of a run of the thread from its journal");
  route.permission = Permission::run;
  route.parameters = {run_parameter()};
  route.body = empty_body_schema();
  route.answers = {{200, "The result of the comparison", "Replay"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(std::optional<RunId> run, named_run_in(call));
    BELAY_CO_TRY(ReplayReport report, co_await call.service.replay(call.who, thread_in(call), run));
    co_return reply_with(replay_document(report));
  };
  return route;
}

Route export_thread() {
  Route route = route_of("GET", "/api/threads/{threadId}/export", "exportThread",
                         "A run of the thread with all of its rows, as one document");
  route.parameters = {run_parameter()};
  route.answers = {{200, "The document, in plaintext even if the store is encrypted", "RunFile"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(std::optional<RunId> run, named_run_in(call));
    BELAY_CO_TRY(Value file, co_await call.service.export_run(call.who, thread_in(call), run));
    co_return reply_with(std::move(file));
  };
  return route;
}

Route import_thread() {
  Route route = route_of("POST", "/api/threads/import", "importThread",
                         "Import of an exported run and its thread, with the same ids");
  route.permission = Permission::administer;
  route.body = body_schema<ImportBody>({"file"});
  route.answers = {{201, "The run", "Run"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(ImportBody body, read_body<ImportBody>(call));
    bool allow_unfinished = body.mayGoOn.value_or(false);
    BELAY_CO_TRY(RunRow run, co_await call.service.import_run(call.who, std::move(body.file),
                                                              allow_unfinished));
    Reply reply = reply_with(run_summary(run));
    reply.status = 201;
    reply.headers.push_back({"Location", "/api/threads/" + percent_encoded(run.thread.text)});
    co_return std::move(reply);
  };
  return route;
}

Route preserve_thread(bool keeps) {
  Route route = route_of(
      keeps ? "PUT" : "DELETE", "/api/threads/{threadId}/preserved",
      keeps ? "preserveThread" : "unpreserveThread",
      keeps ? "Exemption of the thread from pruning" : "End of the exemption from pruning");
  route.permission = Permission::administer;
  route.answers = {{200, "Done", "Preserved"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    bool preserve = call.request.method == "PUT";
    BELAY_CO_CHECK(co_await call.service.preserve(call.who, thread_in(call), preserve));
    co_return reply_with(
        Value::object({{"threadId", call.path.at("threadId")}, {"preserved", preserve}}));
  };
  return route;
}

Route left_behind() {
  Route route =
      route_of("GET", "/api/left-behind", "listLeftBehind", "Threads whose run is orphaned");
  route.parameters = {named_user_parameter()};
  route.answers = {{200, "Their ids", "LeftBehind"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(std::optional<UserId> user, named_user_in(call));
    BELAY_CO_TRY(std::vector<ThreadId> left,
                 co_await call.service.orphaned_threads(call.who, std::move(user)));
    Value::Array threads;
    for (const ThreadId& thread : left) threads.push_back(thread.text);
    co_return reply_with(Value::object({{"threads", std::move(threads)}}));
  };
  return route;
}

}  // namespace

std::vector<Route> thread_routes(ApiContext& world) {
  std::vector<Route> routes;
  routes.push_back(list_threads());
  routes.push_back(show_thread(world));
  routes.push_back(edit_thread());
  routes.push_back(delete_thread());
  routes.push_back(list_runs_of_thread());
  routes.push_back(show_history());
  routes.push_back(show_calls());
  routes.push_back(export_thread());
  routes.push_back(import_thread());
  routes.push_back(resume_thread(world));
  routes.push_back(cancel_thread(world));
  routes.push_back(fork_thread(world));
  routes.push_back(replay_thread());
  routes.push_back(preserve_thread(true));
  routes.push_back(preserve_thread(false));
  routes.push_back(left_behind());
  return routes;
}

}  // namespace belay::server
