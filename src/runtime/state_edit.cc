// Starts a run with a person's change of the state of its thread.
//
// The change is the first commit of a run of the thread (RunOptions::beginning), which continues
// at the nodes that the run before it has left. An approval that was open is closed with the run
// that waited for it, and is requested again with the changed values.
//
// If the process dies after the earlier run was cancelled and before the first commit of the new
// one, the same request continues: a cancelled run has left the same nodes.
//
// With StateEdit::from, the state and the nodes are those of an earlier commit of the thread. Its
// nodes start again in the new run, which therefore has other effects and approvals.

#include "engine/route.h"
#include "engine/run_factory.h"
#include "engine/run_options.h"
#include "runtime/left_tasks.h"
#include "runtime/run_starts.h"

namespace belay {
namespace {

// The beginning of the run, with the nodes that were left, unless the values are the result of a
// node.
Result<RunBeginning> beginning_of(const StateEdit& edit, const LeftTasks& left) {
  if (left.have_joined) {
    return error(ErrorCode::conflict,
                 "Some of the nodes that a join of the run waits for have completed: a change of "
                 "the state would forget them. Continue the run, or fork the thread with edits.");
  }
  RunBeginning beginning;
  beginning.as_node = edit.as_node;
  beginning.held = edit.held;
  beginning.from = edit.from;
  if (edit.as_node.empty()) {
    if (left.have_worked) {
      return error(ErrorCode::conflict,
                   "A node of the run has started effects, or one of several has completed: it "
                   "cannot be started again with other values. Decide what is open, or cancel the "
                   "run and fork the thread.");
    }
    beginning.nodes = left.nodes;
  }
  beginning.nodes.insert(beginning.nodes.end(), edit.go_to.begin(), edit.go_to.end());
  return beginning;
}

// Fails if the run cannot begin, or would begin with a node whose use of the state a decision of
// the run before it has permitted.
Result<Done> check_first_tasks(const GraphDefinition& graph, const engine::Run& run,
                               const StateEdit& edit, const LeftTasks& left) {
  BELAY_TRY(auto tasks, engine::first_tasks(graph, run));
  // The nodes of a `from` that keeps its state can be behind a decision, other ones cannot.
  RunBeginning other;
  other.nodes = edit.go_to;
  BELAY_CHECK(engine::check_beginning(graph, other, run.row));
  if (!left.follow_decision || is_next_turn(edit) || is_return(edit)) return Done{};
  for (const engine::NodeTask& task : tasks) {
    if (task.node->approval) continue;
    return error(ErrorCode::forbidden,
                 "The run has a decided approval, which has not shown the changed state: \"" +
                     task.node->name +
                     "\" cannot continue with it. Fork the thread with edits: a fork requests the "
                     "approval again.");
  }
  return Done{};
}

Result<engine::Run> new_edit(const GraphDefinition& graph, RunRow wanted, RunBeginning beginning) {
  BELAY_TRY(RunOptions options, engine::options_from(wanted.options));
  options.beginning = std::move(beginning);
  wanted.options = engine::options_text(options);
  return engine::new_run_from(graph, std::move(wanted));
}

}  // namespace

Task<Result<std::optional<RunStarts::Place>>> RunStarts::settle_edit(Request& request) {
  Place place;
  auto known = co_await find_known(request);
  if (!known.ok()) co_return std::move(known).error();
  if (*known) {
    place.known = **std::move(known);
    co_return std::optional(std::move(place));
  }
  const GraphDefinition& graph = *request.graph;
  std::function<Result<std::optional<EditPlace>>(Snapshot&)> reader =
      [tenant = request.wanted.tenant, thread = request.wanted.thread, graphs = loader_.graphs(),
       from = request.edit->from](Snapshot& view) {
        return edit_place(view, *graphs, tenant, thread, from);
      };
  auto found = co_await read<std::optional<EditPlace>>(parts_.store, std::move(reader));
  if (!found.ok()) co_return std::move(found).error();
  if (*found && request.is_named) {
    // Race: the same start was committed between the two reads. Its run is not replaced.
    auto committed = co_await find_known(request);
    if (!committed.ok()) co_return std::move(committed).error();
    if (*committed) {
      place.known = **std::move(committed);
      co_return std::optional(std::move(place));
    }
  }
  bool needs_a_thread = request.edit->from || request.needs_a_thread;
  if (needs_a_thread && !*found) co_return unknown_thread(request);
  LeftTasks nothing;
  const LeftTasks& left = *found ? (*found)->left : nothing;
  BELAY_CO_TRY(RunBeginning beginning, beginning_of(*request.edit, left));
  RunRow wanted = request.wanted;
  BELAY_CO_TRY(engine::Run run, new_edit(graph, std::move(wanted), std::move(beginning)));
  if (*found) {
    ThreadPlace& thread = (*found)->thread;
    BELAY_CO_CHECK(check_same_thread(thread.newest, request.wanted));
    run.row.ordinal = thread.newest.ordinal + 1;
    run.waits_for_thread = true;
    run.newest_of_thread = thread.newest.run;
    BELAY_CO_TRY(run, engine::begin_run(graph, (*found)->before, std::move(run)));
  }
  BELAY_CO_CHECK(check_first_tasks(graph, run, *request.edit, left));
  if (*found && (*found)->busy) {
    if (request.if_busy != BusyThread::interrupt) co_return *std::move((*found)->busy);
    BELAY_CO_CHECK(executor_.check_not_draining());
    BELAY_CO_CHECK(co_await end_earlier_runs(request.wanted, BusyThread::interrupt));
    co_return std::optional<Place>();
  }
  if (*found && (*found)->thread.unfinished) {
    // Checked before the cancel: start() would refuse the run only after it.
    BELAY_CO_CHECK(executor_.check_not_draining());
    BELAY_CO_TRY(RunAdmission::Permit permit, executor_.admission().enter(request.wanted));
    const RunRow& waiting = *(*found)->thread.unfinished;
    std::string nobody;
    auto ended = co_await executor_.cancel(waiting.tenant, waiting.thread, request.wanted.user.text,
                                           std::move(nobody), waiting.run, waiting.seq);
    // `conflict`: a decision or a resume was first. The thread is read again, and is then busy.
    bool is_race = !ended.ok() && ended.error().code == ErrorCode::conflict;
    if (!ended.ok() && !is_race) co_return std::move(ended).error();
    co_return std::optional<Place>();
  }
  request.run = std::move(run);
  co_return std::optional(std::move(place));
}

}  // namespace belay
