#pragma once
// server/routes.h - the routes of every program, by what they are about.

#include "server/api.h"
#include "server/wait.h"

namespace belay::server {

// What handlers need beside the call. Outlives them.
struct ApiContext {
  ApiParts parts;
  ApiOptions options;
  Waiting waiting;
  // Whether the look at readiness that took too long has ended; null where none did.
  std::shared_ptr<bool> late_look = nullptr;
};

// A handler that needs the world. A coroutine can't be a lambda that captures: the lambda may be
// gone before it.
Handle with(ApiContext& world, Task<Result<Reply>> (*answer)(ApiContext& served, Call call));

// One that reads, until it is told otherwise.
Route route_of(std::string method, std::string path, std::string id, std::string summary);
Reply reply_with(Value document);

std::vector<Route> run_routes(ApiContext& world);
std::vector<Route> thread_routes(ApiContext& world);
std::vector<Route> event_routes(ApiContext& world);
std::vector<Route> approval_routes(ApiContext& world);
std::vector<Route> outbox_routes(ApiContext& world);
std::vector<Route> queue_routes(ApiContext& world);
std::vector<Route> store_routes(ApiContext& world);
std::vector<Route> health_routes(ApiContext& world);

// Reads a number of a query: `or_else` where it is absent, `invalid` where it is none from `least`
// to `most`.
Result<std::int64_t> int_parameter(const StringMap& query, std::string_view name,
                                   std::int64_t or_else, std::int64_t least, std::int64_t most);
bool bool_parameter(const StringMap& query, std::string_view name);
// The number, or `invalid` where it is none from `least` to `most`.
Result<std::int64_t> within(std::string_view name, std::int64_t number, std::int64_t least,
                            std::int64_t most);

// No page has more.
constexpr auto kListMax = static_cast<std::int64_t>(limits::list_rows_max);

// Returns the owner of the data that a request is about: "userId" in its query, else the caller's
// own user. `invalid` if it is not a valid user name.
Result<UserId> owner_in(const Call& call);
Parameter owner_parameter();
// The same for a list; nothing if no user is named: all that the caller may see.
Result<std::optional<UserId>> named_user_in(const Call& call);
Parameter named_user_parameter();

Parameter query_parameter(std::string name, std::string help, Value schema);
Parameter limit_parameter(std::int64_t or_else, std::int64_t most);

// The page of the thread's history selected by "before" and "limit"; without "limit" it has
// `or_else` commits. `invalid` for numbers out of range.
std::vector<Parameter> history_parameters(std::int64_t or_else);
Result<HistoryPage> history_page_in(const Call& call, std::int64_t or_else);

// How long the request itself asks to wait for its run ("Prefer: wait=5", "Prefer: respond-async"),
// RFC 7240; nothing where it does not say.
struct Preference {
  std::optional<std::chrono::milliseconds> wait;
  bool is_async = false;
};
Preference preference_of(const http::Request& request);

// Members of a body with execution options of the run; the runtime checks their bounds.
std::optional<int> attempts_from(const std::optional<std::int64_t>& member);
std::optional<std::chrono::milliseconds> time_from(const std::optional<std::int64_t>& member);

// How long a request waits for its run: as the request asks, else the server's default.
struct Patience {
  std::chrono::milliseconds limit{0};
  bool is_queued =
      false;  // the run is only put into its queue: a request waits for it only on demand
};
Patience patience_of(const ApiContext& world, const Preference& preference, bool is_queued = false);

// The Prefer header, and the headers of a request that starts a run.
Parameter prefer_parameter();
std::vector<Parameter> start_parameters();
// Returns the thread that a request starts: the named one, that of its Idempotency-Key, or a new
// one. `invalid` for a new one with a name that is reserved for these keys.
Task<Result<ThreadId>> thread_to_begin(ApiContext& world, const Call& call, ThreadId named,
                                       UserId user);
// Begins a run as the request's headers say, and waits for it; the run as it stands then.
Task<Result<RunView>> begun_run(ApiContext& world, const Call& call, StartRun start);
Task<Result<Reply>> begin_run(ApiContext& world, const Call& call, StartRun start);
// Returns the thread's run once `task` has ended and the run is settled, in any process; or its
// current state once the request stops waiting. `task` always continues.
Task<Result<RunView>> await_run(ApiContext& world, Service& service, Task<Result<RunView>> task,
                                ThreadId thread, Patience patience);
// Resumes a thread's run, or returns it as is if it is already running.
Task<Result<RunView>> resume_or_look(Service& service, ThreadId thread);
// Decides, and waits for the run likewise, also if the same decision was already made.
Task<Result<DecisionResult>> decided(ApiContext& world, Service& service, InterruptId interrupt,
                                     Decision decision, Patience patience);

// Reserves a slot for the run that a request starts; `unavailable` if none is free, unless the
// thread's run already exists.
Task<Result<Done>> enter(const Call& call, ThreadId thread);
// Wraps the task, which holds that slot until it has ended.
Task<Result<RunView>> counted(std::shared_ptr<StartCount> start, Task<Result<RunView>> task);
// Keeps the count only if the run was started by the request: an older run was only found.
void keep_if_begun(const Call& call, const Result<RunView>& view);

// The body of a request that decides. Not of this file's own: its members are read by name.
struct DecisionBody {
  std::optional<bool> approved;
  std::optional<std::string> comment;
  Value edited;
  std::optional<std::string> decidedBy;
  std::optional<std::string> onBehalfOf;
  std::optional<std::vector<std::string>> roles;
};
Result<Decision> decision_of(const Call& call);
// 409 for a decision that is not the one, with the one that won beside; nothing for one that is.
std::optional<Reply> lost_decision(const ApiContext& world, const DecisionResult& answer);
// A problem as a handler's reply.
void take_problem(http::Response response, Reply& reply);

// Returns a run in its current state: 200. The reason that a queued run waits varies with time.
Reply view_reply(ApiContext& world, const RunView& view);
// A run that has ended: 200; that waits for a person or is still at work: 202.
Reply run_reply(ApiContext& world, const RunView& view);

}  // namespace belay::server
