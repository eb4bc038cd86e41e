#pragma once
// server/routes.h - the routes of every program, grouped by subject, and their helper functions.

#include "server/api.h"
#include "server/wait.h"

namespace belay::server {

// The objects that handlers use. Outlives them.
struct ApiContext {
  ApiParts parts;
  ApiOptions options;
  Waiting waiting;
  // The last readiness check that took too long; set to true when it ends. Null otherwise.
  std::shared_ptr<bool> late_look = nullptr;
  Instant runs_counted_at = {};  // for /metrics
};

// Returns a handler that uses the context. A coroutine must not be a lambda with captures: the
// lambda could be destroyed before the coroutine.
Handle with(ApiContext& world, Task<Result<Reply>> (*answer)(ApiContext& served, Call call));

// Returns a route with permission `read` by default.
Route route_of(std::string method, std::string path, std::string id, std::string summary);
Reply reply_with(Value document);

std::vector<Route> run_routes(ApiContext& world);
std::vector<Route> thread_routes(ApiContext& world);
std::vector<Route> steering_routes(ApiContext& world);
std::vector<Route> event_routes(ApiContext& world);
std::vector<Route> approval_routes(ApiContext& world);
std::vector<Route> outbox_routes(ApiContext& world);
std::vector<Route> queue_routes(ApiContext& world);
std::vector<Route> schedule_routes(ApiContext& world);
std::vector<Route> store_routes(ApiContext& world);
std::vector<Route> health_routes(ApiContext& world);
std::vector<Route> mcp_routes(ApiContext& world);
std::vector<Route> metrics_routes(ApiContext& world);
std::vector<Route> analytics_routes(ApiContext& world);

// The maximum number of items of a page.
inline constexpr auto kListMax = static_cast<std::int64_t>(limits::list_rows_max);
// The maximum seq of a commit that a request names.
inline constexpr std::int64_t kSeqMax = 1'000'000'000'000;

// Parses a whole number; nullopt for any other text.
std::optional<std::int64_t> number_from(std::string_view text);
bool bool_parameter(const StringMap& query, std::string_view name);
// Returns the number; fails with `invalid` if it is not from `least` to `most`.
Result<std::int64_t> within(std::string_view name, std::int64_t number, std::int64_t least,
                            std::int64_t most);

// The user whose rows a list contains; nullopt if none is named: all data that the caller can read.
Result<std::optional<UserId>> named_user_in(const RouteRequest& call);
Parameter named_user_parameter();

// The id in the query's member `name`; nullopt if it is absent. `what`: "a run id", for the error,
// which is `invalid`.
Result<std::optional<Uuid>> id_parameter(const RouteRequest& call, std::string_view name,
                                         std::string_view what);
// The run that "run" names in the query of a thread's route; nullopt if it is absent: the current
// run. `not_found` if it is not a run id.
Result<std::optional<RunId>> named_run_in(const RouteRequest& call);
// The header Idempotency-Key, with its help.
Parameter idempotency_key_parameter(std::string help);
// The header If-None-Match, for the ETag of an earlier response.
Parameter known_tag_parameter();
// True if the value of If-Match or If-None-Match contains this tag.
bool names_tag(std::string_view header, std::string_view tag);
// Adds the ETag to the reply, which becomes a 304 if the client has it.
void set_tag(const Call& call, std::string tag, Reply& reply);
// Returns the {threadId} of the path.
ThreadId thread_in(const RouteRequest& call);
Parameter run_parameter();

// The time that a request itself asks to wait for its run ("Prefer: wait=5", "Prefer:
// respond-async"; RFC 7240); nullopt if it does not ask.
struct Preference {
  std::optional<std::chrono::milliseconds> wait;
  bool is_async = false;
};
Preference preference_of(const http::Request& request);

// The time that a request waits for its run: as it asks, otherwise the server's default.
struct Patience {
  std::chrono::milliseconds limit{0};
  bool is_queued = false;  // the run is only queued: a request waits for it only if it asks to
};
Patience patience_of(const ApiContext& world, const Preference& preference, bool is_queued = false);

// Returns the thread of the run that a request starts: the named one, that of its Idempotency-Key,
// or a new one. Fails with `invalid` if the name of a new one is reserved for these keys.
Task<Result<ThreadId>> thread_to_begin(ApiContext& world, const Call& call, ThreadId named,
                                       UserId user);
// The names by which a repeated start finds its run. An empty thread: that of the key. Without an
// agent, a run of an agent with one run per thread might not be found.
struct StartNames {
  std::string agent;
  UserId user;
  ThreadId thread;
  std::string key;
};
// True if the run of these names exists: Route::finds_run. The second: of the header
// Idempotency-Key, the path, and the body, which can name a thread and a user.
Task<bool> finds_run_of(const Call& call, StartNames names);
Task<bool> finds_run_of_header(const Call& call);
// True for a thread that the caller cannot see, because it belongs to another user or does not
// exist.
Task<bool> is_hidden_thread(const Call& call, ThreadId thread);
// Starts a run with the options of the request's headers, and waits for it. Returns its state then.
Task<Result<RunView>> begun_run(ApiContext& world, const Call& call, StartRun start);
// The same, with the wait of the caller instead of that of the headers.
Task<Result<RunView>> begun_run(ApiContext& world, const Call& call, StartRun start,
                                Patience patience);
Task<Result<Reply>> begin_run(ApiContext& world, const Call& call, StartRun start);
// The run that the task of a request executes, as far as it is known before the task has ended.
struct AwaitedRun {
  ThreadId thread;
  // Set for a start: the run is the newest one, and not older than this, unless threads of the
  // agent have a single run. Otherwise: the thread's current run.
  std::optional<Instant> started_since = std::nullopt;
  std::string agent = {};
  // Of a start on a thread on which others can start runs meanwhile: the run of this request,
  // unless threads of the agent have a single run.
  std::optional<RunId> run = std::nullopt;
  // Of a resume: the run is only known after a commit behind this one.
  std::optional<std::uint64_t> after_seq = std::nullopt;
};
// Returns the run when `task` has ended and the run is settled, in any process; or its current
// state if the request stops waiting before that. `task` always continues: it owns all that it
// uses.
Task<Result<RunView>> await_run(ApiContext& world, Service& service, const Principal& who,
                                Task<Result<RunView>> task, AwaitedRun awaited, Patience patience);
// Resumes a thread's run; returns it unchanged if it is already running.
Task<Result<RunView>> resume_or_look(Service& service, Principal who, ThreadId thread,
                                     std::optional<Breakpoints> breakpoints = std::nullopt,
                                     std::optional<std::uint64_t> only_at = std::nullopt,
                                     std::optional<Consent> consent = std::nullopt);
// Decides, and waits for the run in the same way, also if the same decision had already been made.
Task<Result<DecisionResult>> decided(ApiContext& world, Service& service, const Principal& who,
                                     InterruptId interrupt, Decision decision, Patience patience);

// Reserves a slot for the run that a request starts; `unavailable` if none is free, unless
// `may_find` and the thread exists: the request then finds its run there. enter_start(): the same
// for the start of an agent; threads of it that have a single run may be found, too, and so may the
// run `sent_before`, which the key of the client names.
Task<Result<Done>> enter(const Call& call, ThreadId thread, bool may_find);
Task<Result<Done>> enter_start(const Call& call, ThreadId thread, std::string agent, bool may_find,
                               std::optional<RunId> sent_before);
// True if threads of the agent have a single run: see belay/thread.h.
Task<Result<bool>> has_one_run_per_thread(Service& service, const Principal& who,
                                          std::string agent);
// Keeps the count only if the run was started by the request: an older run was only found.
void keep_if_begun(const Call& call, const Result<RunView>& view);

// Returns a 409 with the recorded decision if this decision was not accepted; nullopt if it was.
std::optional<Reply> lost_decision(const ApiContext& world, const DecisionResult& answer);
// Converts a reply to that of a handler of a module: its text and its stream are omitted.
RouteReply route_reply_of(Reply reply);
// Converts a problem to the reply of a handler.
void take_problem(http::Response response, Reply& reply);

// Returns 200 with a run in its current state. Not cached if queued: the reason for its wait
// depends on the time.
Reply view_reply(ApiContext& world, const RunView& view);
// Returns 200 if the run has ended, 202 if it is queued, running or paused.
Reply run_reply(ApiContext& world, const RunView& view);

}  // namespace belay::server
