// Starts a run exactly once, even if callers repeat the request, and finds its place among the runs
// of its thread.
//
// Two starts on one thread can race, in one process or in several. Each reads the thread, and its
// first commit requires that the thread has not got another run since (ThreadGuard). The start that
// loses writes nothing, and reads the thread again.

#include "runtime/run_starts.h"

#include <algorithm>

#include "base/run_of_key.h"
#include "belay/limits.h"
#include "engine/advance.h"
#include "engine/route.h"
#include "engine/run_factory.h"
#include "engine/run_options.h"
#include "graph/call_guarded.h"
#include "runtime/start_records.h"
#include "runtime/thread_place.h"

namespace belay {
namespace {

// Number of times that a start is repeated because other starts on its thread preceded it.
constexpr int races_max = 64;

// Checked first in every case: the run reads and saves records as the user for whom it was started.
// A start by another user does not mean this run, and its error must not describe the run.
Result<Done> check_user(const RunRow& known, const RunRow& wanted) {
  if (known.user == wanted.user) return Done{};
  return error(ErrorCode::conflict, "Thread \"" + wanted.thread.text +
                                        "\" belongs to another user. Use another thread.");
}

// Checks that a start with the name of an existing thread matches the thread's run.
Result<Done> check_known(const RunRow& known, const RunRow& wanted) {
  BELAY_CHECK(check_user(known, wanted));
  if (known.graph == wanted.graph && known.input == wanted.input) return Done{};
  return error(ErrorCode::invalid,
               "Thread \"" + wanted.thread.text + "\" already has a run of graph \"" + known.graph +
                   "\" with a different input. Use the same input or another thread.");
}

Result<Done> check_named(const RunRow& known, const RunRow& wanted, bool thread_is_named) {
  BELAY_CHECK(check_user(known, wanted));
  bool same_thread = !thread_is_named || known.thread == wanted.thread;
  if (same_thread && known.graph == wanted.graph && known.input == wanted.input) return Done{};
  return error(ErrorCode::invalid, "This idempotency key already names run " + known.run.text() +
                                       " of thread \"" + known.thread.text +
                                       "\", with another thread, graph or input. Repeat that "
                                       "request unchanged, or use another key.");
}

// An edit without a node is continued by the nodes that the run before it had left, which are
// stored before those of the edit.
bool is_edit_of(const RunBeginning& known, const StateEdit& edit) {
  const std::vector<FirstNode>& nodes = known.nodes;
  bool has_left = edit.as_node.empty();
  bool may_fit = has_left ? nodes.size() >= edit.go_to.size() : nodes.size() == edit.go_to.size();
  return known.as_node == edit.as_node && known.held == edit.held && known.from == edit.from &&
         may_fit && std::equal(edit.go_to.rbegin(), edit.go_to.rend(), nodes.rbegin());
}

// Checks that a start with a known key has the edit of the key's run, or none if that has none.
Result<Done> check_same_edit(const RunRow& known, const std::optional<StateEdit>& edit) {
  BELAY_TRY(RunOptions options, engine::options_from(known.options));
  if (!edit && !options.beginning) return Done{};
  if (edit && options.beginning && is_edit_of(*options.beginning, *edit)) return Done{};
  return error(ErrorCode::invalid, "This idempotency key names run " + known.run.text() +
                                       " of thread \"" + known.thread.text +
                                       "\", with another change of the state. Repeat that request "
                                       "unchanged, or use another key.");
}

bool waits_at_breakpoint(const RunRow& run) {
  return run.status == RunStatus::paused && pause_reason(run) == PauseReason::breakpoint;
}

// The parts of an edit that need no thread.
Result<Done> check_edit(const GraphDefinition& graph, const StateEdit& edit) {
  if (graph.one_run_per_thread) {
    return error(ErrorCode::invalid, "Threads of the graph \"" + graph.name +
                                         "\" have one run, which cannot be changed. Fork the "
                                         "thread with edits.");
  }
  bool is_as_allowed = is_next_turn(edit) || is_return(edit);
  if (!edit.may_decide && !is_as_allowed && engine::has_approvals(graph)) {
    return error(ErrorCode::forbidden,
                 "This API key cannot change the state of a graph that has approvals: that "
                 "requires the permission decide.");
  }
  if (!edit.values.is_null() && !edit.values.as_object()) {
    return error(ErrorCode::invalid, "Invalid values of an edit: expected an object of channels.");
  }
  for (const FirstNode& first : edit.go_to) {
    if (!first.input.empty()) BELAY_CHECK(parse_json(first.input));
    if (first.decisions.empty()) continue;
    return error(ErrorCode::invalid, "Invalid go_to of an edit: only Belay sets the decisions.");
  }
  if (edit.go_to.size() <= limits::graph_nodes_max) return Done{};
  return error(ErrorCode::invalid,
               "An edit can start at most " + std::to_string(limits::graph_nodes_max) + " nodes.");
}

Error is_busy(const RunRow& unfinished) {
  return error(
      ErrorCode::conflict,
      "Thread \"" + unfinished.thread.text + "\" is busy: its run " + unfinished.run.text() +
          " is " + std::string(name_of(unfinished.status)) +
          ". Wait for its end or resume it, or start with the policy enqueue, interrupt or "
          "rollback.");
}

}  // namespace

Result<Done> RunStarts::check_same_thread(const RunRow& newest, const RunRow& wanted) {
  BELAY_CHECK(check_user(newest, wanted));
  if (newest.graph == wanted.graph) return Done{};
  return error(ErrorCode::invalid, "Thread \"" + wanted.thread.text + "\" has runs of graph \"" +
                                       newest.graph + "\", not of \"" + wanted.graph +
                                       "\". Use another thread.");
}

Error RunStarts::unknown_thread(const Request& request) {
  return error(ErrorCode::not_found, "Unknown thread \"" + request.wanted.thread.text + "\".");
}

Result<RunStarts::Request> RunStarts::prepare(std::string graph_name, std::shared_ptr<void> input,
                                              StartOptions options) {
  Request request;
  BELAY_TRY(request.graph, loader_.graphs()->newest(graph_name));
  request.may_have_a_run = !options.thread.empty() && !options.thread_is_new;
  request.needs_a_thread = options.thread_exists;
  request.is_named = !options.idempotency_key.empty();
  request.if_busy = options.if_busy;
  request.thread_is_named = !options.thread.empty();
  if (options.thread.empty()) options.thread = ThreadId(random_uuid(parts_.random).text());
  BELAY_CHECK(check_name("tenant id", options.tenant.text));
  BELAY_CHECK(check_name("user id", options.user.text));
  BELAY_CHECK(check_name("thread id", options.thread.text));
  BELAY_CHECK(check_name("queue name", options.queue));
  if (!options.concurrency_key.empty()) {
    BELAY_CHECK(check_name("concurrency key", options.concurrency_key));
  }
  if (request.is_named) BELAY_CHECK(check_name("idempotency key", options.idempotency_key));
  const GraphDefinition& definition = *request.graph;
  if (options.edit) BELAY_CHECK(check_edit(definition, *options.edit));
  if (definition.check_input && (!options.edit || is_next_turn(*options.edit))) {
    BELAY_CHECK(call_guarded<Done>("The input check of graph \"" + definition.name + "\"",
                                   [&] { return definition.check_input(input.get()); }));
  }
  BELAY_TRY(RunOptions of_run, options.run.over(parts_.run_defaults).options());
  BELAY_CHECK(engine::check_breakpoints(definition, of_run.breakpoints));
  BELAY_CHECK(check_record_users(options.records));
  request.records = std::move(options.records);
  RunRow row;
  row.tenant = options.tenant;
  row.run = request.is_named ? run_of_key(options.tenant, options.user, options.idempotency_key)
                             : RunId(random_uuid(parts_.random));
  row.thread = options.thread;
  row.user = options.user;
  row.session = executor_.session();
  row.queue = options.queue;
  row.priority = options.priority;
  row.concurrency_key = options.concurrency_key;
  BELAY_TRY(request.run, engine::new_run(*request.graph, row, of_run, std::move(input)));
  request.wanted = request.run->row;
  if (!options.edit) return request;
  const Value none(Value::Object{});
  const Value& values = options.edit->values.is_null() ? none : options.edit->values;
  request.wanted.input = json_envelope(to_json(values));
  request.edit = std::move(options.edit);
  return request;
}

Task<Result<std::optional<LoadedRun>>> RunStarts::find_known(const Request& request) {
  const RunRow& wanted = request.wanted;
  if (request.is_named) {
    auto named = co_await loader_.load_run(wanted.tenant, wanted.run);
    if (named.ok()) {
      BELAY_CO_CHECK(check_named(named->stored.row, wanted, request.thread_is_named));
      BELAY_CO_CHECK(check_same_edit(named->stored.row, request.edit));
      co_return std::optional(*std::move(named));
    }
    if (named.error().code != ErrorCode::not_found) co_return std::move(named).error();
  }
  if (!request.may_have_a_run || !request.graph->one_run_per_thread) {
    co_return std::optional<LoadedRun>();
  }
  auto found = co_await loader_.load_thread(wanted.tenant, wanted.thread);
  if (!found.ok() && found.error().code == ErrorCode::not_found) {
    co_return std::optional<LoadedRun>();
  }
  if (!found.ok()) co_return std::move(found).error();
  BELAY_CO_CHECK(check_known(found->stored.row, wanted));
  co_return std::optional(*std::move(found));
}

Task<Result<RunStarts::Place>> RunStarts::find_place(Request& request) {
  Place place;
  auto known = co_await find_known(request);
  if (!known.ok()) co_return std::move(known).error();
  if (*known) {
    place.known = **std::move(known);
    co_return std::move(place);
  }
  const GraphDefinition& graph = *request.graph;
  if (!request.run) {
    BELAY_CO_TRY(request.run, engine::new_run_from(graph, request.wanted));
  }
  if (!request.may_have_a_run || graph.one_run_per_thread) {
    if (request.needs_a_thread) co_return unknown_thread(request);
    co_return std::move(place);
  }
  std::function<Result<std::optional<ThreadPlace>>(Snapshot&)> reader =
      [tenant = request.wanted.tenant, thread = request.wanted.thread, graphs = loader_.graphs()](
          Snapshot& view) { return thread_place(view, *graphs, tenant, thread); };
  auto read_place = co_await read<std::optional<ThreadPlace>>(parts_.store, std::move(reader));
  if (!read_place.ok()) co_return std::move(read_place).error();
  if (!*read_place) {
    // Without the runs that this start has rolled back, the thread continues to exist.
    bool is_deleted = request.needs_a_thread && !request.former_thread;
    if (is_deleted) co_return unknown_thread(request);
    request.run->former_thread = request.former_thread;
    co_return std::move(place);
  }
  ThreadPlace& thread = **read_place;
  BELAY_CO_CHECK(check_same_thread(thread.newest, request.wanted));
  engine::Run& run = *request.run;
  request.next_ordinal = std::max(request.next_ordinal, thread.newest.ordinal + 1);
  run.row.ordinal = request.next_ordinal;
  run.waits_for_thread = true;
  run.newest_of_thread = thread.newest.run;
  place.busy = std::move(thread.unfinished);
  place.thread = std::move(thread.row);
  if (place.busy) co_return std::move(place);
  if (!thread.before) {
    co_return error(ErrorCode::invalid,
                    "Thread \"" + request.wanted.thread.text +
                        "\" has no state to continue from: all of its runs "
                        "were cancelled before they began. Use another thread.");
  }
  BELAY_CO_TRY(request.run, engine::begin_run(graph, *thread.before, std::move(run)));
  co_return std::move(place);
}

Task<Result<std::optional<RunStarts::Place>>> RunStarts::settle_place(Request& request) {
  if (request.edit) co_return co_await settle_edit(request);
  auto place = co_await find_place(request);
  if (!place.ok()) co_return std::move(place).error();
  bool ends_others =
      request.if_busy == BusyThread::interrupt || request.if_busy == BusyThread::rollback;
  if (place->busy && request.if_busy == BusyThread::reject) co_return is_busy(*place->busy);
  if (place->busy && ends_others) {
    request.former_thread = std::move(place->thread);
    auto ended = co_await end_earlier_runs(request.wanted, request.if_busy);
    if (!ended.ok()) co_return std::move(ended).error();
    request.run.reset();
    co_return std::optional<Place>();
  }
  co_return std::optional(*std::move(place));
}

Task<Result<RunView>> RunStarts::start(std::string graph_name, std::shared_ptr<void> input,
                                       StartOptions options) {
  BELAY_CO_TRY(Request request,
               prepare(std::move(graph_name), std::move(input), std::move(options)));
  for (int race = 0; race < races_max; ++race) {
    auto place = co_await settle_place(request);
    if (!place.ok()) co_return std::move(place).error();
    if (!*place) continue;
    if ((*place)->known) {
      LoadedRun known = *std::move((*place)->known);
      // A repeated request does not pass the breakpoint at which its run waits.
      if (request.is_named && waits_at_breakpoint(known.stored.row)) {
        co_return loader_.view_of(std::move(known));
      }
      co_return co_await executor_.continue_or_view(std::move(known));
    }
    if ((*place)->busy) {
      auto is_stored = co_await put_into_queue(request, parts_.clock.now());
      if (!is_stored.ok()) co_return std::move(is_stored).error();
      if (*is_stored) co_return co_await loader_.view(request.wanted.tenant, request.wanted.run);
      BELAY_CO_CHECK(co_await check_records(request));
      continue;
    }
    BELAY_CO_CHECK(executor_.check_not_draining());
    BELAY_CO_TRY(RunAdmission::Permit permit, executor_.admission().enter(request.wanted));
    auto places = co_await limits_.guards_of(request.wanted, true);
    if (!places.ok()) co_return std::move(places).error();
    engine::Started begun;
    begun.moment = executor_.moment();
    begun.records = request.records;
    engine::Event first = std::move(begun);
    engine::Run run = *std::move(request.run);
    request.run.reset();
    RunLoader::Definition graph = request.graph;
    auto view = co_await executor_.drive(std::move(graph), std::move(run), std::move(first),
                                         *std::move(places));
    bool is_race = !view.ok() && view.error().code == ErrorCode::conflict;
    if (!is_race) co_return std::move(view);
    // Race: the same start, or another one on this thread, was committed since the read.
    request.may_have_a_run = true;
    BELAY_CO_CHECK(co_await check_records(request));
  }
  co_return error(ErrorCode::conflict, "Other starts on thread \"" + request.wanted.thread.text +
                                           "\" preceded this one. Try again.");
}

Task<Result<bool>> RunStarts::put_into_queue(Request& request, Instant not_before) {
  auto has_room = co_await limits_.check_queue(request.wanted.tenant);
  if (!has_room.ok()) co_return std::move(has_room).error();
  engine::Started begun;
  begun.moment = executor_.moment();
  begun.queued_until = std::max(not_before, begun.moment.now);
  begun.records = request.records;
  engine::Run run = *std::move(request.run);
  request.run.reset();
  auto next = engine::advance(*request.graph, std::move(run), begun);
  Commit commit = std::move(*std::get<engine::WriteCommit>(next.actions.front()).commit);
  auto outcome = co_await limits_.put_into_queue(std::move(commit));
  if (!outcome.ok()) co_return std::move(outcome).error();
  request.may_have_a_run = true;
  co_return *outcome == CommitOutcome::applied;
}

Task<Result<RunView>> RunStarts::enqueue(std::string graph, std::shared_ptr<void> input,
                                         StartOptions options, Instant not_before) {
  if (options.edit) {
    co_return error(ErrorCode::invalid,
                    "A change of a thread's state cannot be queued. Start it without a delay.");
  }
  BELAY_CO_TRY(Request request, prepare(std::move(graph), std::move(input), std::move(options)));
  for (int race = 0; race < races_max; ++race) {
    auto place = co_await settle_place(request);
    if (!place.ok()) co_return std::move(place).error();
    if (!*place) continue;
    if ((*place)->known) co_return loader_.view_of(*std::move((*place)->known));
    auto is_stored = co_await put_into_queue(request, not_before);
    if (!is_stored.ok()) co_return std::move(is_stored).error();
    if (*is_stored) co_return co_await loader_.view(request.wanted.tenant, request.wanted.run);
    BELAY_CO_CHECK(co_await check_records(request));
  }
  co_return error(ErrorCode::conflict, "Other starts on thread \"" + request.wanted.thread.text +
                                           "\" preceded this one. Try again.");
}

Task<Result<Done>> RunStarts::check_records(const Request& request) {
  if (request.records.empty()) co_return Done{};
  std::function<Result<Done>(Snapshot&)> reader = [wanted = request.wanted,
                                                   records = request.records](Snapshot& view) {
    return check_record_versions(view, wanted, records);
  };
  co_return co_await read<Done>(parts_.store, std::move(reader));
}

// Newest first: a waiting run must not begin when the run before it is cancelled.
Task<Result<Done>> RunStarts::end_earlier_runs(RunRow wanted, BusyThread how) {
  std::function<Result<std::vector<RunRow>>(Snapshot&)> reader =
      [tenant = wanted.tenant, thread = wanted.thread](Snapshot& view) {
        return unfinished_runs(view, tenant, thread);
      };
  auto runs = co_await read<std::vector<RunRow>>(parts_.store, std::move(reader));
  if (!runs.ok()) co_return std::move(runs).error();
  for (const RunRow& row : *runs) {
    std::string nobody;
    auto cancelled = co_await executor_.cancel(wanted.tenant, wanted.thread, wanted.user.text,
                                               std::move(nobody), row.run);
    // `conflict`: it has ended otherwise meanwhile; `not_found`: another start has deleted it.
    bool has_ended = cancelled.ok() || cancelled.error().code == ErrorCode::conflict ||
                     cancelled.error().code == ErrorCode::not_found;
    if (!has_ended) co_return std::move(cancelled).error();
  }
  if (how != BusyThread::rollback) co_return Done{};
  co_return co_await delete_runs(wanted.tenant, *std::move(runs));
}

}  // namespace belay
