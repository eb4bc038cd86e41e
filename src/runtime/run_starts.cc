// Starts a run exactly once, even if callers repeat the request with the same thread name.

#include "runtime/run_starts.h"

#include "belay/limits.h"

#include "engine/advance.h"
#include "engine/run_factory.h"
#include "graph/call_guarded.h"

namespace belay {
namespace {

// Checks that a start with the name of an existing thread matches the thread's run.
Result<Done> check_known(const RunRow& known, const RunRow& wanted) {
  // Checked first: the run reads and saves records as the user for whom it was started. A start by
  // another user does not mean this run, and its error must not describe the run.
  if (known.user != wanted.user) {
    return error(ErrorCode::conflict, "Thread \"" + wanted.thread.text +
                                          "\" belongs to another user. Use another thread.");
  }
  if (known.graph == wanted.graph && known.input == wanted.input) return Done{};
  return error(ErrorCode::invalid,
               "Thread \"" + wanted.thread.text + "\" already has a run of graph \"" + known.graph +
                   "\" with a different input. Use the same input or another thread.");
}

}  // namespace

Task<Result<RunStarts::Begin>> RunStarts::prepare(std::string graph_name,
                                                  std::shared_ptr<void> input,
                                                  StartOptions options) {
  Begin begin;
  BELAY_CO_TRY(begin.graph, loader_.graphs()->newest(graph_name));
  bool may_have_a_run = !options.thread.empty() && !options.thread_is_new;
  if (options.thread.empty()) options.thread = ThreadId(random_uuid(parts_.random).text());
  BELAY_CO_CHECK(check_name("tenant id", options.tenant.text));
  BELAY_CO_CHECK(check_name("user id", options.user.text));
  BELAY_CO_CHECK(check_name("thread id", options.thread.text));
  BELAY_CO_CHECK(check_name("queue name", options.queue));
  if (!options.concurrency_key.empty()) {
    BELAY_CO_CHECK(check_name("concurrency key", options.concurrency_key));
  }
  const GraphDefinition& definition = *begin.graph;
  if (definition.check_input) {
    BELAY_CO_CHECK(call_guarded<Done>("The input check of graph \"" + definition.name + "\"",
                                      [&] { return definition.check_input(input.get()); }));
  }
  BELAY_CO_TRY(RunOptions of_run, options.run.over(parts_.run_defaults).options());
  RunRow row;
  row.tenant = options.tenant;
  row.run = RunId(random_uuid(parts_.random));
  row.thread = options.thread;
  row.user = options.user;
  row.session = executor_.session();
  row.queue = options.queue;
  row.priority = options.priority;
  row.concurrency_key = options.concurrency_key;
  BELAY_CO_TRY(begin.run, engine::new_run(*begin.graph, row, of_run, std::move(input)));
  if (may_have_a_run) {
    auto found = co_await loader_.load_thread(options.tenant, options.thread);
    if (!found.ok() && found.error().code != ErrorCode::not_found) {
      co_return std::move(found).error();
    }
    if (found.ok()) {
      BELAY_CO_CHECK(check_known(found->stored.row, begin.run->row));
      begin.known = *std::move(found);
    }
  }
  co_return std::move(begin);
}

Task<Result<RunView>> RunStarts::start(std::string graph_name, std::shared_ptr<void> input,
                                       StartOptions options) {
  auto begin = co_await prepare(std::move(graph_name), std::move(input), std::move(options));
  if (!begin.ok()) co_return std::move(begin).error();
  if (begin->known) co_return co_await executor_.continue_or_view(*std::move(begin->known));
  BELAY_CO_CHECK(executor_.check_not_draining());
  BELAY_CO_TRY(RunAdmission::Permit place, executor_.admission().enter(begin->run->row));
  auto places = co_await limits_.guards_of(begin->run->row, true);
  if (!places.ok()) co_return std::move(places).error();
  RunRow wanted = begin->run->row;
  engine::Event first = engine::Started{executor_.moment()};
  auto view = co_await executor_.drive(std::move(begin->graph), *std::move(begin->run),
                                       std::move(first), *std::move(places));
  bool may_be_known = !view.ok() && view.error().code == ErrorCode::conflict;
  if (!may_be_known) co_return std::move(view);
  // Race: the same start, in any process, was committed between the read and this commit.
  auto known = co_await find_known(std::move(wanted));
  if (!known.ok()) co_return std::move(known).error();
  co_return co_await executor_.continue_or_view(*std::move(known));
}

Task<Result<LoadedRun>> RunStarts::find_known(RunRow wanted) {
  auto found = co_await loader_.load_thread(wanted.tenant, wanted.thread);
  if (!found.ok()) co_return std::move(found).error();
  BELAY_CO_CHECK(check_known(found->stored.row, wanted));
  co_return *std::move(found);
}

Task<Result<RunView>> RunStarts::enqueue(std::string graph, std::shared_ptr<void> input,
                                         StartOptions options, Instant not_before) {
  auto begin = co_await prepare(std::move(graph), std::move(input), std::move(options));
  if (!begin.ok()) co_return std::move(begin).error();
  if (begin->known) co_return loader_.view_of(*std::move(begin->known));
  TenantId tenant = begin->run->row.tenant;
  RunId run = begin->run->row.run;
  RunRow wanted = begin->run->row;
  auto has_room = co_await limits_.check_queue(tenant);
  if (!has_room.ok()) co_return std::move(has_room).error();
  engine::Started begun;
  begun.moment = executor_.moment();
  begun.queued_until = std::max(not_before, begun.moment.now);
  auto next = engine::advance(*begin->graph, *std::move(begin->run), begun);
  Commit commit = std::move(*std::get<engine::WriteCommit>(next.actions.front()).commit);
  auto outcome = co_await limits_.put_into_queue(std::move(commit));
  if (!outcome.ok()) co_return std::move(outcome).error();
  if (*outcome != CommitOutcome::applied) {
    // Race: the same start was committed between the read and this commit.
    auto known = co_await find_known(std::move(wanted));
    if (!known.ok()) co_return std::move(known).error();
    co_return loader_.view_of(*std::move(known));
  }
  co_return co_await loader_.view(std::move(tenant), run);
}

}  // namespace belay
