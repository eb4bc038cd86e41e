#include "langgraph/runs.h"

#include <algorithm>

#include "base/percent_encoding.h"
#include "base/run_of_key.h"
#include "conversation/question_id.h"
#include "http/ascii.h"
#include "langgraph/assistants.h"
#include "langgraph/errors.h"
#include "langgraph/resumes.h"
#include "langgraph/run_changes.h"
#include "langgraph/run_configuration.h"
#include "langgraph/run_endings.h"
#include "langgraph/sent_before.h"
#include "langgraph/thread_changes.h"
#include "service/json_encode.h"
#include "service/run_request.h"

namespace belay::langgraph {
namespace {

using server::Call;

constexpr std::size_t kRunBytesMax = 256u << 10;  // of the members that a record keeps

Result<Done> check_size(const RunBody& body) {
  if (to_json(body.settings).size() + to_json(body.metadata).size() <= kRunBytesMax) return Done{};
  return error(ErrorCode::invalid, "The metadata and the configuration of the run are too large: " +
                                       std::to_string(kRunBytesMax) + " bytes are allowed.");
}

// Reads the thread; one that does not exist is created by the start of its first run if the body
// asks for that.
Task<Result<ThreadView>> thread_of_run(AgentServer& served, const Call& call, ThreadId thread) {
  ThreadId named = thread;
  auto view = co_await find_thread(served.world, call, std::move(named));
  bool is_absent = !view.ok() && view.error().code == ErrorCode::not_found;
  if (!is_absent) co_return std::move(view);
  if (std::as_const(call.body)["if_not_exists"] != Value("create")) co_return std::move(view);
  auto uuid = uuid_from(thread.text);
  if (!uuid) co_return error(ErrorCode::invalid, "The id of a new thread must be a UUID.");
  ThreadView made;
  made.id = ThreadId(uuid->text());
  made.user = call.who.user;
  co_return std::move(made);
}

Task<Result<WantedRun>> wanted_run(AgentServer& served, Call& call,
                                   std::optional<ThreadId> thread) {
  WantedRun wanted;
  wanted.is_stateless = !thread;
  BELAY_CO_TRY(wanted.body, run_body_of(call.body));
  std::string name = wanted.body.assistant_id;
  BELAY_CO_TRY(wanted.assistant, co_await find_assistant(served.world, call, std::move(name)));
  std::string graph = wanted.assistant.graph_id;
  BELAY_CO_TRY(wanted.agent, co_await agent_named(call, std::move(graph)));
  if (thread) {
    BELAY_CO_TRY(wanted.thread, co_await thread_of_run(served, call, *std::move(thread)));
  }
  const ThreadView* of = wanted.thread ? &*wanted.thread : nullptr;
  merge_configuration(call.body, wanted.assistant, of);
  BELAY_CO_TRY(wanted.body, run_body_of(call.body));
  wanted.body.run.configuration = configuration_text(
      call.body, wanted.assistant, of, of ? of->user : call.who.user, call.request.headers);
  BELAY_CO_CHECK(wanted.body.run.options());
  if (!wanted.body.webhook.empty() && !served.endings->has_webhooks()) {
    co_return error(ErrorCode::invalid, "\"webhook\" is not supported: this server sends none.");
  }
  BELAY_CO_CHECK(check_size(wanted.body));
  co_return std::move(wanted);
}

// The error of a start that the thread's run has prevented: its text is the one that clients match.
Task<Error> busy_thread(const Call& call, ThreadId thread, Error refused) {
  auto run = co_await call.service.run_of(call.who, std::move(thread), std::nullopt);
  if (!run.ok() || is_final(run->status)) co_return std::move(refused);
  co_return error(ErrorCode::conflict,
                  "Thread is already running a task. Wait for it to finish, answer its interrupts "
                  "or choose a different multitask strategy. " +
                      refused.message);
}

Task<Result<RunRecord>> start_run(AgentServer& served, Call& call, WantedRun& wanted) {
  BELAY_CO_TRY(RunView view, co_await started_run(served, call, wanted));
  co_return record_of_wanted(served, wanted, view.row);
}

// The work after the end of the run; nullopt: none. A start gets a key: its run has an id before it
// exists.
std::optional<RunEnding> wanted_ending(AgentServer& served, Call& call, WantedRun& wanted,
                                       bool continues) {
  RunEnding ending;
  ending.webhook = wanted.body.webhook;
  ending.deletes_thread = wanted.is_stateless && !wanted.body.keeps_thread;
  bool has_none = ending.webhook.empty() && !ending.deletes_thread;
  // A resume without a run is refused later.
  bool is_refused = continues && !(wanted.thread && wanted.thread->has_run());
  if (has_none || is_refused) return std::nullopt;
  UserId user = wanted.thread ? wanted.thread->user : call.who.user;
  ending.user = user.text;
  if (continues) {
    const RunRow& run = *wanted.thread->listed->run;
    ending.id = wanted.continuing_id;
    ending.run = run.run.text();
    ending.after = static_cast<std::int64_t>(run.seq);
    ending.thread = run.thread.text;
    return ending;
  }
  std::string key(call.request.header("Idempotency-Key"));
  if (key.empty()) {
    key = random_uuid(served.world.parts.random).text();
    call.request.headers.push_back({"Idempotency-Key", key});
    wanted.new_thread = ThreadId(random_uuid(served.world.parts.random).text());
  }
  ThreadId made = wanted.new_thread.empty() ? thread_of_key(user, key) : wanted.new_thread;
  ending.thread = wanted.thread ? wanted.thread->id.text : made.text;
  ending.id = ending.run = run_of_key(call.who.tenant, user, key).text();
  return ending;
}

// Begins the run, whose ending is saved before.
Task<Result<RunRecord>> begin_with_ending(AgentServer& served, const WantedRun& wanted,
                                          RunEnding ending, Task<Result<RunRecord>> begin) {
  std::string expected = ending.id;
  bool has_webhook = !ending.webhook.empty();
  BELAY_CO_TRY(bool is_new, co_await served.endings->add(std::move(ending)));
  auto record = co_await begin;
  if (!is_new) co_return std::move(record);
  if (!record.ok()) {
    // After the others, the run can exist.
    ErrorCode code = record.error().code;
    bool is_refused =
        code != ErrorCode::unavailable && code != ErrorCode::uncertain && !wanted.has_started;
    if (is_refused) (void)co_await served.endings->withdraw(std::move(expected));
  } else if (has_webhook) {
    // If this fails, the work begins after kStartWindow.
    RunRecord started = *record;
    (void)co_await served.endings->started(std::move(expected), std::move(started));
  }
  co_return std::move(record);
}

// The run from a checkpoint has the id of its key; of a random one without a key.
void set_run_of_key(AgentServer& served, Call& call, WantedRun& wanted) {
  std::string key(call.request.header("Idempotency-Key"));
  if (key.empty()) {
    key = random_uuid(served.world.parts.random).text();
    call.request.headers.push_back({"Idempotency-Key", key});
  }
  const UserId& user = wanted.thread->user;
  wanted.continuing_id = run_of_key(call.who.tenant, user, key).text();
}

// A rollback deletes the runs of a busy thread, and its run is stored after that.
bool may_delete_runs(const WantedRun& wanted, BusyThread if_busy) {
  bool is_kept = wanted.thread && wanted.thread->record && wanted.thread->record->has_begun;
  return is_kept && wanted.thread->has_run() && !is_final(wanted.thread->listed->run->status) &&
         if_busy == BusyThread::rollback;
}

// Starts the run with the mark of its thread. `reads`: the thread is read again before.
Task<Result<RunView>> begin_marked(AgentServer& served, Call& call, WantedRun& wanted,
                                   StartRun start, bool reads) {
  if (reads) {
    ThreadId named = wanted.thread->id;
    BELAY_CO_TRY(wanted.thread, co_await find_thread(served.world, call, std::move(named)));
  }
  if (wanted.thread) {
    BELAY_CO_TRY(start.records, mark_of_first_run(*wanted.thread));
  }
  bool marks_thread = !start.records.empty();
  server::Patience patience;
  patience.is_queued = start.queued;
  auto view = co_await server::begun_run(served.world, call, std::move(start), patience);
  bool may_be_outdated = !view.ok() && view.error().code == ErrorCode::conflict && marks_thread;
  if (may_be_outdated) {
    BELAY_CO_TRY(wanted.is_outdated, co_await is_outdated(served.world, call, *wanted.thread));
  }
  co_return std::move(view);
}

bool waits_at_breakpoint(const WantedRun& wanted) {
  if (!wanted.thread || !wanted.thread->has_run()) return false;
  const RunRow& run = *wanted.thread->listed->run;
  return run.status == RunStatus::paused && pause_reason(run) == PauseReason::breakpoint;
}

}  // namespace

RunRecord record_of_wanted(const AgentServer& served, const WantedRun& wanted, const RunRow& row) {
  RunRecord record = record_of_row(row);
  record.assistant_id = wanted.assistant.id;
  record.kwargs = wanted.body.settings;
  record.metadata = wanted.body.metadata;
  record.strategy = name_of(wanted.body.if_busy.value_or(served.options.if_busy));
  record.is_stateless = wanted.is_stateless;
  return record;
}

Task<Result<RunView>> started_run(AgentServer& served, Call& call, WantedRun& wanted) {
  StartRun start;
  start.agent = wanted.assistant.graph_id;
  Value input = wanted.body.change ? wanted.body.change->values : wanted.body.input;
  RequestRandom ids(call, served.world.parts.random);
  BELAY_CO_TRY(AgentInput given,
               agent_input(served.options.conversations, wanted.agent, std::move(input), ids));
  start.user = wanted.thread ? wanted.thread->user : call.who.user;
  if (wanted.thread) start.thread = wanted.thread->id;
  // A deletion that is acknowledged meanwhile is not undone.
  start.thread_exists = wanted.thread && wanted.thread->has_run() && !wanted.body.creates_thread;
  if (!wanted.thread) start.thread = wanted.new_thread;
  start.input = std::move(given.value);
  start.run = wanted.body.run;
  start.run.configuration =
      conversation::with_question_id(std::move(start.run.configuration), given.question_id);
  if (!wanted.body.breakpoints.before.empty() || !wanted.body.breakpoints.after.empty()) {
    start.run.breakpoints = wanted.body.breakpoints;
  }
  if (wanted.body.change) start.edit = edit_of(*wanted.body.change);
  if (wanted.from) {
    if (!start.edit) start.edit.emplace();
    if (!wanted.body.input.is_null()) start.edit->as_node = belay::start;
    start.edit->from = wanted.from;
  }
  start.if_busy = wanted.body.if_busy.value_or(served.options.if_busy);
  start.delay = wanted.body.delay;
  start.queued = start.delay.count() > 0;
  std::string keeper;
  bool keeps_thread = may_delete_runs(wanted, start.if_busy);
  if (keeps_thread) {
    keeper = random_uuid(served.world.parts.random).text();
    ThreadView kept = *wanted.thread;
    std::string by = keeper;
    auto saved = co_await keep_thread(served, call, std::move(kept), std::move(by));
    wanted.is_outdated = !saved.ok() && saved.error().code == ErrorCode::conflict;
    if (!saved.ok()) co_return std::move(saved).error();
  }
  auto view = co_await begin_marked(served, call, wanted, std::move(start), keeps_thread);
  bool is_refused = !view.ok() && keeps_thread;
  if (is_refused) {
    ThreadId thread = wanted.thread->id;
    (void)co_await keep_no_longer(served, call, std::move(thread), std::move(keeper), view.error());
  }
  bool may_be_busy = !view.ok() && view.error().code == ErrorCode::conflict && wanted.thread;
  if (may_be_busy) co_return co_await busy_thread(call, wanted.thread->id, view.error());
  if (!view.ok()) co_return std::move(view).error();
  ThreadId thread = view->row.thread;
  std::string graph = wanted.assistant.graph_id, assistant = wanted.assistant.id;
  BELAY_CO_CHECK(co_await note_run_on_thread(served.world, call, std::move(thread),
                                             std::move(graph), std::move(assistant)));
  co_return std::move(view);
}

namespace {

// nullopt: the thread was changed or deleted since it was read, and nothing was started.
Task<Result<std::optional<BegunRun>>> begin_once(AgentServer& served, Call& call,
                                                 std::optional<ThreadId> thread, bool forks) {
  BELAY_CO_TRY(WantedRun wanted, co_await wanted_run(served, call, std::move(thread)));
  wanted.forks = forks;
  bool is_of_other_graph = wanted.thread && wanted.thread->listed &&
                           wanted.thread->listed->thread.graph != wanted.assistant.graph_id;
  if (is_of_other_graph) {
    co_return error(ErrorCode::invalid, "Thread " + wanted.thread->id.text +
                                            " belongs to the graph \"" +
                                            wanted.thread->listed->thread.graph + "\".");
  }
  BELAY_CO_CHECK(co_await set_checkpoint(call, wanted));
  const std::size_t headers = call.request.headers.size();
  bool is_resume = !wanted.body.resume.is_null();
  bool decides_there = is_resume && wanted.from;
  if (decides_there) set_run_of_key(served, call, wanted);
  if (!decides_there) wanted.continuing_id = continuing_id(served, call, wanted);
  BELAY_CO_TRY(std::optional<ProtocolRun> known, co_await known_run(call, wanted));
  BegunRun begun;
  if (known) {
    begun.run = *std::move(known);
    begun.body = std::move(wanted.body);
    call.request.headers.resize(headers);
    co_return std::optional(std::move(begun));
  }
  bool may_pass = !is_resume && !wanted.body.change && !wanted.from && !wanted.was_started;
  bool passes =
      may_pass && wanted.body.input.is_null() && (wanted.unbegun || waits_at_breakpoint(wanted));
  auto ending = wanted_ending(served, call, wanted, (is_resume && !decides_there) || passes);
  Task<Result<RunRecord>> begin = decides_there ? resume_at_checkpoint(served, call, wanted)
                                  : is_resume   ? resume_run(served, call, wanted)
                                  : passes      ? pass_breakpoint(served, call, wanted)
                                                : start_run(served, call, wanted);
  if (ending) begin = begin_with_ending(served, wanted, *std::move(ending), std::move(begin));
  auto record = co_await begin;
  call.request.headers.resize(headers);  // the key belongs to this run of a batch
  if (wanted.is_outdated) co_return std::optional<BegunRun>();
  if (!record.ok()) co_return std::move(record).error();
  UserId user = wanted.thread ? wanted.thread->user : call.who.user;
  std::string id = record->id;
  UserId owner = user;
  BELAY_CO_CHECK(co_await save_run(call, *std::move(record), std::move(owner)));
  begun.body = std::move(wanted.body);
  BELAY_CO_TRY(begun.run, co_await find_run_by_id(call, std::move(id), std::move(user)));
  co_return std::optional(std::move(begun));
}

Task<Result<BegunRun>> begin_run(AgentServer& served, Call& call, std::optional<ThreadId> thread,
                                 bool forks) {
  // An attempt merges the configuration of the thread into it.
  const Value body = thread ? call.body : Value();
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    std::optional<ThreadId> named = thread;
    BELAY_CO_TRY(std::optional<BegunRun> begun,
                 co_await begin_once(served, call, std::move(named), forks));
    if (begun) co_return *std::move(begun);
    call.body = body;
  }
  co_return changed_too_often(*thread);
}

}  // namespace

Task<Result<BegunRun>> begin_protocol_run(AgentServer& served, Call& call,
                                          std::optional<ThreadId> thread) {
  return begin_run(served, call, std::move(thread), false);
}

Task<Result<BegunRun>> begin_protocol_fork(AgentServer& served, Call& call, ThreadId thread) {
  return begin_run(served, call, std::move(thread), true);
}

Task<Result<Done>> check_protocol_run(AgentServer& served, Call& call) {
  BELAY_CO_CHECK(co_await wanted_run(served, call, std::nullopt));
  co_return Done{};
}

void replace_key(Call& call, std::string key) {
  static constexpr std::string_view kName = "Idempotency-Key";
  std::vector<http::Header>& headers = call.request.headers;
  std::erase_if(headers, [](const auto& each) { return http::equal_letters(each.name, kName); });
  headers.push_back({std::string(kName), std::move(key)});
}

FollowedRun followed(BegunRun begun) {
  FollowedRun run;
  bool is_stateless = begun.run.record.is_stateless;
  run.modes = std::move(begun.body.modes);
  run.subgraphs = begun.body.stream_subgraphs;
  run.after.cancels = begun.body.cancels_on_disconnect;
  // Otherwise, the thread is deleted after the request to the webhook.
  run.after.deletes_thread = is_stateless && !begun.body.keeps_thread && begun.body.webhook.empty();
  run.run = std::move(begun.run);
  return run;
}

std::string run_path(const RunRecord& record) {
  std::string path = "/runs/" + record.id;
  if (record.is_stateless) return path;
  return "/threads/" + percent_encoded(record.thread) + path;
}

}  // namespace belay::langgraph
