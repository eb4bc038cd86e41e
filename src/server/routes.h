#pragma once
// server/routes.h - the routes of every program, by what they are about.

#include "server/api.h"
#include "server/wait.h"

namespace belay::server {

// What handlers need beside the call. Outlives them.
struct World {
  ApiParts parts;
  ApiOptions options;
  Waiting waiting;
  // Whether the look at readiness that took too long has ended; null where none did.
  std::shared_ptr<bool> late_look = nullptr;
};

// A handler that needs the world. A coroutine can't be a lambda that captures: the lambda may be
// gone before it.
Handle with(World& world, Task<Result<Reply>> (*answer)(World& served, Call call));

// One that reads, until it is told otherwise.
Route route_of(std::string method, std::string path, std::string id, std::string summary);
Reply reply_with(Value document);

std::vector<Route> run_routes(World& world);
std::vector<Route> thread_routes(World& world);
std::vector<Route> event_routes(World& world);
std::vector<Route> approval_routes(World& world);
std::vector<Route> outbox_routes(World& world);
std::vector<Route> queue_routes(World& world);
std::vector<Route> store_routes(World& world);
std::vector<Route> health_routes(World& world);

// Reads a number of a query: `or_else` where it is absent, `invalid` where it is none from `least`
// to `most`.
Result<std::int64_t> number_in(const Texts& query, std::string_view name, std::int64_t or_else,
                               std::int64_t least, std::int64_t most);
bool truth_in(const Texts& query, std::string_view name);
// The number, or `invalid` where it is none from `least` to `most`.
Result<std::int64_t> within(std::string_view name, std::int64_t number, std::int64_t least,
                            std::int64_t most);

// No page has more.
constexpr auto kListMax = static_cast<std::int64_t>(limits::list_rows_max);

// Whose things a request is about: the "userId" of its query, else the caller's own. `invalid` for
// what can't be a user's name.
Result<UserId> owner_in(const Call& call);
Parameter owner_parameter();
// The same of a list that shows everything that the caller may see, where it names nobody.
Result<std::optional<UserId>> named_user_in(const Call& call);
Parameter named_user_parameter();

Parameter query_parameter(std::string name, std::string help, Value schema);
Parameter limit_parameter(std::int64_t or_else, std::int64_t most);

// The page of the history of the path's thread that "before" and "limit" ask for: `or_else` commits
// if there is no limit. `invalid` for numbers out of range.
std::vector<Parameter> history_parameters(std::int64_t or_else);
Result<HistoryPage> history_page_in(const Call& call, std::int64_t or_else);

// How long the request itself asks to wait for its run ("Prefer: wait=5", "Prefer: respond-async"),
// RFC 7240; nothing where it does not say.
struct Preference {
  std::optional<std::chrono::milliseconds> wait;
  bool is_async = false;
};
Preference preference_of(const http::Request& request);

// Members of a body that says how its run is carried out; the runtime checks their bounds.
std::optional<int> attempts_from(const std::optional<std::int64_t>& member);
std::optional<std::chrono::milliseconds> time_from(const std::optional<std::int64_t>& member);

// How long a request waits for its run: as it asks itself, else as long as the server has it.
struct Patience {
  std::chrono::milliseconds limit{0};
  bool is_queued =
      false;  // the run is only put into its queue: that is not waited for unless asked
};
Patience patience_of(const World& world, const Preference& preference, bool is_queued = false);

// The header that says so, and those that a request takes that begins a run.
Parameter prefer_parameter();
std::vector<Parameter> start_parameters();
// The thread that a request begins: the one that it names, that of its Idempotency-Key, or a new
// one. `invalid` for a new one under a name that the server keeps for the keys.
Task<Result<ThreadId>> thread_to_begin(World& world, const Call& call, ThreadId named, UserId user);
// Begins a run as the request's headers say, and waits for it; the run as it stands then.
Task<Result<RunView>> begun_run(World& world, const Call& call, StartRun start);
Task<Result<Reply>> begin_run(World& world, const Call& call, StartRun start);
// The thread's run once `task` has ended and the run rests, whoever works on it; or where it stands
// once the request does not wait any longer. `task` goes on in any case.
Task<Result<RunView>> settled(World& world, Service& service, Task<Result<RunView>> task,
                              ThreadId thread, Patience patience);
// Goes on with a thread's run, or gives it as it stands where somebody works on it already.
Task<Result<RunView>> resume_or_look(Service& service, ThreadId thread);
// Decides, and waits for the run likewise: also where the same decision had been made already.
Task<Result<DecisionAnswer>> decided(World& world, Service& service, InterruptId interrupt,
                                     Decision decision, Patience patience);

// Takes a place for the run that a request begins; `unavailable` where there is none, unless the
// thread's run is there already.
Task<Result<Done>> enter(const Call& call, ThreadId thread);
// The task, which holds that place until it has ended.
Task<Result<RunView>> counted(std::shared_ptr<StartCount> start, Task<Result<RunView>> task);
// A run that is older than the request was found, not begun: the request counts as no start.
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
std::optional<Reply> lost_decision(const World& world, const DecisionAnswer& answer);
// A problem as a handler's reply.
void take_problem(http::Response response, Reply& reply);

// A run as it stands: 200. What holds a queued one back changes with the time, too.
Reply view_reply(World& world, const RunView& view);
// A run that has ended: 200; that waits for a person or is still at work: 202.
Reply run_reply(World& world, const RunView& view);

}  // namespace belay::server
