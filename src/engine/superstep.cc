// The part of Transition that starts, continues and ends supersteps, and makes their commits.
//
// Order: a task starts only after the commit that scheduled it (Transition::continue_tasks, on
// Committed). Otherwise, after a crash, the store would not know a task whose effects might have
// happened. Durability::async and Durability::exit relax this for the steps that they defer.
//
// Long on purpose: its functions call one another.

#include <algorithm>

#include "belay/limits.h"
#include "engine/next_task.h"
#include "engine/route.h"
#include "engine/task_text.h"
#include "engine/transition.h"
#include "graph/call_guarded.h"
#include "graph/call_record.h"

namespace belay::engine {
namespace {

bool is_empty(const NodeEffects& effects) {
  return effects.records.empty() && effects.events.empty() && effects.messages.empty() &&
         effects.outcome.empty();
}

// An approval executes nothing, and its payload shows the changed state: it is requested.
bool is_held_at_start(const Run& run) {
  bool holds = run.checkpoint_ns.empty() && run.options.beginning && run.options.beginning->held;
  return holds && std::any_of(run.tasks.begin(), run.tasks.end(),
                              [](const NodeTask& task) { return !task.node->approval; });
}

ThreadRow thread_row(const RunRow& run) {
  ThreadRow row;
  row.tenant = run.tenant;
  row.thread = run.thread;
  row.user = run.user;
  row.graph = run.graph;
  row.last_run = run.run;
  row.created_at = run.created_at;
  return row;
}

// The first run of a thread creates it; a later one requires that no other has been started since
// it was read.
void join_thread(const Run& run, Commit& commit) {
  if (run.row.ordinal == 0) {
    ThreadRow row = thread_row(run.row);
    if (run.former_thread) {
      row.title = run.former_thread->title;
      row.metadata = run.former_thread->metadata;
      row.expires_at = run.former_thread->expires_at;
      row.updated_at = run.former_thread->updated_at;
    }
    commit.rows.thread = std::move(row);
  } else {
    commit.thread_guard = ThreadGuard{run.row.thread, run.newest_of_thread};
  }
}

}  // namespace

void add_effects(NodeEffects& to, NodeEffects&& from) {
  append_all(to.records, from.records);
  append_all(to.events, from.events);
  append_all(to.messages, from.messages);
  if (from.journaled > 0) to.journaled = from.journaled;
  if (!from.outcome.empty()) to.outcome = std::move(from.outcome);
}

std::vector<NodeEffects::CustomEvent> take_events(Run& run) {
  std::vector<NodeEffects::CustomEvent> all;
  for (NodeTask& task : run.tasks) {
    auto own = std::exchange(task.effects.events, {});
    append_all(all, own);
    if (!task.inner) continue;
    auto inside = take_events(*task.inner);
    append_all(all, inside);
  }
  return all;
}

bool Transition::defers_commit() const {
  return !work_.flushes && run_.options.durability == Durability::exit &&
         run_.row.status == RunStatus::running;
}

CommitRows& Transition::pending() {
  work_.has_pending = true;
  return work_.pending;
}

// Adds the journal rows of effects to the commit of this event, which they cause if necessary. Rows
// of model calls alone are held until there is a commit: see finish(). The order of the calls
// remains: a store lists the rows in the order in which they were committed.
void Transition::keep_journal(NodeEffects& effects) {
  std::vector<EffectRow>& deferred = root().run_.deferred_journal;
  bool only_models = true;
  for (const EffectRow& row : effects.journal) {
    if (is_model_call(row.name)) continue;
    only_models = false;
    root().run_.may_have_intents |= row.status == EffectStatus::intended;
  }
  append_all(deferred, effects.journal);
  effects.journal.clear();
  if (only_models) return;
  append_all(pending().effects, deferred);
  deferred.clear();
}

void Transition::start_run(const Moment& moment) {
  Step step;
  step.kind = CommitKind::input;
  // The input of the run itself is stored in its row. A subgraph has no stored row: its first
  // commit must contain the channels that its input sets.
  if (is_inner()) {
    for (const GivenChannel& each : given_channels(*graph_.state, run_.state.get())) {
      if (!each.held.problem.empty()) {
        return fail(error(ErrorCode::invalid,
                          "The channel \"" + each.channel->name +
                              "\" of a subgraph's input cannot be saved: " + each.held.problem),
                    moment);
      }
      step.set.push_back(each.channel->index);
    }
  }
  if (run_.waits_for_thread) {
    run_.row.status = RunStatus::queued;
    return commit(std::move(step), moment);
  }
  if (!schedule_first_tasks(step, moment)) return;
  bool is_queued = !is_inner() && run_.row.due_at != Instant() && !run_.tasks.empty();
  if (run_.at_breakpoint && !is_inner()) {
    stop_at_breakpoint();
  } else if (is_queued) {
    run_.row.status = RunStatus::queued;
  }
  commit(std::move(step), moment);
}

// Adds the values with which a later run of a thread starts. Returns false if the run has failed.
bool Transition::schedule_first_tasks(Step& step, const Moment& moment) {
  for (InitialValue& value : std::exchange(run_.initial_values, {})) {
    auto channel = std::find_if(run_.channels.begin(), run_.channels.end(),
                                [&](const auto& each) { return each.name == value.channel; });
    BELAY_ASSERT(channel != run_.channels.end());
    step.values.push_back({&*channel, value.kind, value.index, std::move(value.text), false});
  }
  auto tasks = first_tasks(graph_, run_);
  if (!tasks.ok()) {
    // The run ends without having started: the state of its thread is not its own.
    if (run_.row.ordinal > 0) run_.channels = unwritten_channels(*graph_.state);
    fail(tasks.error(), moment);
    return false;
  }
  begin_superstep(run_, *std::move(tasks));
  run_.row.node = nodes_text(run_.tasks);
  if (is_held_at_start(run_)) run_.at_breakpoint = true;
  if (run_.tasks.empty()) complete();
  return true;
}

void Transition::stop_at_breakpoint() {
  run_.at_breakpoint = true;
  run_.row.status = RunStatus::paused;
  run_.row.reason = name_of(PauseReason::breakpoint);
  run_.row.session = SessionId();
}

// Starts everything that had to wait until the newest commit is durable.
void Transition::continue_tasks(const Moment& moment) {
  if (!is_running()) return;
  // If a subgraph ends here, it can end this superstep too, or the run: `run_.tasks` is another
  // list then, and the remaining positions are not valid any more.
  std::int64_t superstep = run_.superstep;
  for (std::size_t position : std::exchange(run_.tasks_to_check, {})) {
    if (!is_running() || run_.superstep != superstep || position >= run_.tasks.size()) return;
    NodeTask& task = run_.tasks[position];
    AttemptId attempt{path(), position, task.id, task.attempt};
    if (task.phase == Phase::backing_off || task.phase == Phase::sleeping) {
      work_.actions.emplace_back(WaitForTask{std::move(attempt), task.due});
    } else if (task.phase == Phase::in_subgraph) {
      Transition inner(task, *this);
      inner.continue_tasks(moment);
    }
  }
  if (!is_running() || run_.superstep != superstep) return;
  if (run_.unfinished == 0 && !run_.tasks.empty()) {
    return end_superstep(moment, CommitKind::node, Value());
  }
  start_ready(moment);
}

void Transition::start_ready(const Moment& moment) {
  // A task that is started can end or be interrupted immediately, which calls this function again:
  // the inner call returns, and the loop of the outer call starts the further tasks. A draining
  // process starts no tasks: the next owner does.
  std::int64_t superstep = run_.superstep;
  if (starting_ == superstep || root().run_.is_draining) return;
  auto before = std::exchange(starting_, superstep);
  auto limit = static_cast<std::size_t>(std::max<std::int64_t>(run_.options.parallel, 1));
  // The start of a task might have ended, paused or failed the whole superstep.
  while (is_running() && run_.superstep == superstep && run_.first_ready < run_.tasks.size() &&
         run_.running < limit) {
    NodeTask& task = run_.tasks[run_.first_ready++];
    if (task.phase == Phase::ready) start_task(task, moment);
  }
  starting_ = before;
}

void Transition::start_task(NodeTask& task, const Moment& moment) {
  const GraphDefinition::Node& node = *task.node;
  if (node.approval) return ask_for_approval(task, moment);
  if (node.subgraph) return start_inside(task, moment);
  if (!node.wait) {
    task.phase = Phase::running;
    ++run_.running;
    AttemptId attempt{path(), task.position, task.id, task.attempt};
    work_.actions.emplace_back(StartNode{std::move(attempt), &node, run_.state});
    return;
  }
  auto time = call_guarded<milliseconds>("The time of \"" + node.name + "\"", [&]() {
    return Result<milliseconds>(node.wait(run_.state.get()));
  });
  if (!time.ok()) return fail(time.error(), moment);
  task.phase = Phase::sleeping;
  task.due = moment.now + *time;
  // The due time must be stored before the wait counts, or a restart would begin it again. The lone
  // task of the run itself needs nothing here: finish() pauses the run, which stores the due time.
  if (is_parallel(run_) || is_inner()) {
    run_.tasks_to_check.push_back(task.position);
    mark_unsaved(task);
    if (!is_parallel(run_)) {
      Step step;
      step.kind = CommitKind::pause;
      step.node = node.name;
      commit(std::move(step), moment);
    }
  } else if (task.due <= moment.now) {
    // finish() pauses a run only for a time in the future. Without this action, no event would
    // continue a run whose wait is over when it starts.
    AttemptId attempt{path(), task.position, task.id, task.attempt};
    work_.actions.emplace_back(WaitForTask{std::move(attempt), task.due});
  }
}

void Transition::start_inside(NodeTask& task, const Moment& moment) {
  const GraphDefinition::Subgraph& subgraph = *task.node->subgraph;
  auto input = call_guarded<std::shared_ptr<void>>(
      "The input of the subgraph \"" + task.node->name + "\"",
      [&]() { return subgraph.input(run_.state.get(), task.input.get()); });
  if (!input.ok()) return fail(input.error(), moment);
  task.inner = std::make_shared<Run>();
  Run& inner = *task.inner;
  inner.row.tenant = run_.row.tenant;
  inner.row.run = run_.row.run;
  inner.row.thread = run_.row.thread;
  inner.row.user = run_.row.user;
  inner.row.graph = run_.row.graph;
  // The clock might have been set back since the previous commit.
  inner.row.created_at = std::max(moment.now, run_.row.updated_at);
  inner.row.updated_at = inner.row.created_at;
  inner.row.status = RunStatus::running;
  inner.options = run_.options;
  inner.checkpoint_ns = inner_checkpoint_ns(run_.checkpoint_ns, task.node->name, task.id);
  inner.state = *std::move(input);
  inner.channels = unwritten_channels(*subgraph.graph->state);
  inner.chain_hash = sha256(inner.checkpoint_ns);
  task.phase = Phase::in_subgraph;
  run_.tasks_to_check.push_back(task.position);
  Transition inside(task, *this);
  inside.start_run(moment);
}

void Transition::task_done(NodeTask& task, const Moment& moment, CommitKind kind, Value detail) {
  task.phase = Phase::done;
  --run_.unfinished;
  if (run_.unfinished == 0) return end_superstep(moment, kind, std::move(detail));
  mark_unsaved(task);
  start_ready(moment);
}

void Transition::end_superstep(const Moment& moment, CommitKind kind, Value detail) {
  Step step;
  step.kind = kind;
  step.node = nodes_text(run_.tasks);
  step.detail = std::move(detail);
  auto values = combine(graph_, run_);
  if (!values.ok()) return fail(values.error(), moment, 1);
  step.values = *std::move(values);
  auto next = next_tasks(graph_, run_);
  if (!next.ok()) return fail(next.error(), moment, 1);
  bool breaks = false;
  for (NodeTask& task : run_.tasks) {
    add_effects(step.effects, std::move(task.effects));
    breaks = breaks || breaks_after(run_, *task.node);
  }
  begin_superstep(run_, *std::move(next));
  run_.row.node = nodes_text(run_.tasks);
  run_.row.lost_claims = 0;
  if (!step.effects.outcome.empty()) run_.row.outcome = step.effects.outcome;
  if (run_.tasks.empty()) {
    // If a decision ends the run, its verdict is the outcome of the run.
    if (const std::string* verdict = step.detail["verdict"].as_string())
      run_.row.outcome = *verdict;
    complete();
  } else if ((breaks || run_.at_breakpoint) && !is_inner()) {
    stop_at_breakpoint();
  }
  commit(std::move(step), moment);
}

void Transition::complete() {
  run_.row.status = RunStatus::completed;
  run_.row.session = SessionId();
  run_.row.due_at = Instant();
  if (run_.row.outcome.empty()) run_.row.outcome = "done";
}

// Ends the task at `position`, whose subgraph has completed or failed.
void Transition::inner_ended(std::size_t position, const Moment& moment) {
  NodeTask& task = run_.tasks[position];
  if (task.inner->row.status == RunStatus::failed) {
    auto code = error_code_named(task.inner->row.error_code);
    Error why = error(code.value_or(ErrorCode::invalid), task.inner->row.error);
    return fail(std::move(why), moment);
  }
  std::string what = "The output of the subgraph \"" + task.node->name + "\"";
  auto answer = call_guarded<NodeUpdate>(
      what, [&]() { return task.node->subgraph->output(task.inner->state.get()); });
  if (!answer.ok()) return fail(answer.error(), moment);
  task.answer = *std::move(answer);
  task.inner.reset();
  task_done(task, moment, CommitKind::node, Value());
}

void Transition::pause(const Moment& moment) {
  run_.row.status = RunStatus::paused;
  run_.row.session = SessionId();
  run_.row.lost_claims = 0;
  bool sleeps = !has_open_interrupts(run_);
  run_.row.reason = name_of(sleeps ? PauseReason::timer : PauseReason::approval);
  run_.row.due_at = first_due(run_).value_or(Instant());
  run_.tasks_to_check.clear();
  Step step;
  step.kind = CommitKind::pause;
  step.node = run_.row.node;
  step.is_midway = is_parallel(run_);
  if (!is_parallel(run_) && sleeps) {
    step.detail = Value::object({{"due", to_text(run_.row.due_at)}});
  }
  commit(std::move(step), moment);
  // While the run is running, a decision is recorded without a commit of the run, and the owner
  // applies it. If that happens before this commit, no owner would apply it after the pause.
  // Therefore the commit requires that all approvals are open; otherwise the driver ends with
  // End::superseded, and the run is read again.
  if (work_.commit) collect_open_interrupts(run_, work_.commit->require_open);
}

void Transition::commit(Step step, const Moment& moment) {
  std::string node = step.node;
  if (run_.superstep > run_.options.supersteps && !run_.tasks.empty() && is_running()) {
    append_all(run_.deferred_effects.events, step.effects.events);
    return fail(error(ErrorCode::exhausted,
                      "The run exceeded its limit of " + std::to_string(run_.options.supersteps) +
                          " supersteps. Check the graph for an endless cycle."),
                moment);
  }
  if (is_inner() && !is_empty(step.effects)) {
    // Effects of a subgraph's nodes become visible with the commit that ends the outer superstep.
    // Until then, the task row of the outer task stores them.
    NodeTask& task = outer_->run_.tasks[position_];
    step.effects.journaled = 0;  // the rows of an inner task
    add_effects(task.effects, std::exchange(step.effects, {}));
    if (!defers_commit()) {
      outer_->pending().tasks.push_back(task_row(outer_->run_, task, root().run_.row.seq));
    }
  }
  bool is_step = step.kind == CommitKind::node || step.kind == CommitKind::input;
  // Durability::exit defers the commits of steps. A commit is not deferred if it schedules several
  // tasks: their pending writes refer to the commit that scheduled them. The first commit is not
  // deferred either: without it, the store does not know the run.
  if (defers_commit() && is_step && run_.row.seq > 0 && !is_parallel(run_)) {
    for (const StepValue& value : step.values) run_.unwritten.push_back(value.channel->index);
    run_.unwritten.insert(run_.unwritten.end(), step.set.begin(), step.set.end());
    add_effects(run_.deferred_effects, std::move(step.effects));
    run_.has_uncommitted_steps = true;
    return continue_tasks(moment);
  }
  // Deferred steps have scheduled these tasks without a commit. This commit stores the tasks, with
  // the state that they started with, even if their superstep has not ended.
  if (std::exchange(run_.has_uncommitted_steps, false)) step.is_midway = false;
  // An upgraded state must be written completely, by a commit that ends a superstep: the values of
  // a commit within a superstep are pending writes, which do not belong to the state yet.
  bool waits = run_.is_upgraded && step.is_midway;
  if (!waits && std::exchange(run_.is_upgraded, false)) {
    run_.version = graph_.hash;
    if (!is_inner()) adopt_materials();
  }
  if (!waits && (!run_.unwritten.empty() || !is_empty(run_.deferred_effects))) {
    auto unwritten = std::exchange(run_.unwritten, {});
    step.set.insert(step.set.end(), unwritten.begin(), unwritten.end());
  }
  if (auto sound = add_set_values(graph_, run_, step); !sound.ok()) {
    run_.row.node = node;
    run_.row.outcome.clear();
    append_all(run_.deferred_effects.events, step.effects.events);
    return fail(sound.error(), moment);
  }
  if (!waits && !is_empty(run_.deferred_effects)) {
    NodeEffects held = std::exchange(run_.deferred_effects, {});
    add_effects(held, std::move(step.effects));
    step.effects = std::move(held);
  }
  if (is_inner()) {
    run_.row.epoch = root().run_.row.epoch;
    run_.row.session = root().run_.row.session;
  }
  bool first = run_.row.seq == 0;
  std::uint64_t guard = guard_epoch_.value_or(first ? 0 : run_.row.epoch);
  if (to_queue_ && is_running()) wait_in_queue(moment);
  bool lags = is_step && is_running() && run_.options.durability == Durability::async && !first;
  Commit ended = end_step(run_, std::move(step), moment, guard);
  if (first && !is_inner()) add_start(ended);
  ended.rows.ends_run = ends_with_loose_ends();
  work_.may_lag = lags && !is_inner();
  emit_commit(std::move(ended));
  if (!is_inner()) return;
  if (is_final(run_.row.status)) return outer_->inner_ended(position_, moment);
  outer_->run_.tasks_to_check.push_back(position_);
}

// True if the commit must close approvals and effects that the run leaves open. A completed run has
// no open approval, and at most an intended effect that a later attempt did not call again.
bool Transition::ends_with_loose_ends() const {
  if (is_inner() || !is_final(run_.row.status)) return false;
  return run_.row.status != RunStatus::completed || run_.may_have_intents;
}

void Transition::wait_in_queue(const Moment& moment) {
  run_.row.status = RunStatus::queued;
  run_.row.session = SessionId();
  run_.row.due_at = moment.now;
}

void Transition::add_start(Commit& commit) {
  join_thread(run_, commit);
  for (RecordWrite& record : std::exchange(start_records_, {})) {
    commit.rows.records.push_back(record_put(std::move(record)));
  }
}

void Transition::emit_commit(Commit commit) {
  if (!is_inner()) {
    work_.commit = std::make_unique<Commit>(std::move(commit));
    return;
  }
  CommitRows& rows = pending();
  append_all(rows.values, commit.rows.values);
  append_all(rows.inner_checkpoints, commit.rows.inner_checkpoints);
  // When this commit is durable, the outer frames must continue the frame that made it.
  for (Transition* frame = this; frame->outer_ && frame->outer_->outer_; frame = frame->outer_) {
    frame->outer_->outer_->run_.tasks_to_check.push_back(frame->outer_->position_);
  }
}

void Transition::fail(Error why, const Moment& moment, int failed_attempts) {
  run_.row.status = RunStatus::failed;
  run_.row.session = SessionId();
  run_.row.reason.clear();
  run_.row.outcome.clear();
  run_.row.due_at = Instant();
  run_.row.error_code = name_of(why.code);
  run_.row.error = why.message;
  root().run_.row.retry_count += failed_attempts;
  Step step;
  step.kind = run_.row.seq == 0 ? CommitKind::input : CommitKind::failure;
  step.node = run_.tasks.empty() ? run_.row.node : nodes_text(run_.tasks);
  run_.row.node = step.node;
  step.detail = Value::object({{"error", why.message}, {"code", name_of(why.code)}});
  // Pending writes of completed tasks must not become part of the state: their superstep has
  // failed, or it has ended, and the commit that would have combined them is dropped.
  step.is_midway = is_parallel(run_) || run_.pending_superstep.has_value() ||
                   std::exchange(run_.has_uncommitted_steps, false);
  if (run_.pending_superstep) run_.superstep = *run_.pending_superstep;
  auto events = take_events(run_);
  run_.tasks.clear();
  run_.unsaved.clear();
  run_.unwritten.clear();
  step.effects = std::exchange(run_.deferred_effects, {});
  append_all(step.effects.events, events);
  if (is_inner()) {
    append_all(outer_->run_.tasks[position_].effects.events, step.effects.events);
    step.effects = {};
  }
  bool first = run_.row.seq == 0;
  std::uint64_t guard = guard_epoch_.value_or(first ? 0 : run_.row.epoch);
  Commit ended = end_step(run_, std::move(step), moment, guard);
  if (first && !is_inner()) add_start(ended);
  ended.rows.ends_run = ends_with_loose_ends();
  // Approvals that the same event has requested are dropped: they were never shown.
  if (!is_inner()) work_.pending.opened.clear();
  emit_commit(std::move(ended));
  if (is_inner()) outer_->inner_ended(position_, moment);
}

void Transition::mark_unsaved(NodeTask& task) {
  task.saved = false;
  if (!is_parallel(run_)) return;
  run_.unsaved.push_back(task.position);
  for (Transition* frame = this; frame->outer_; frame = frame->outer_) {
    frame->outer_->run_.unsaved_inside.push_back(frame->position_);
  }
}

// Makes pending writes of the tasks that have changed since the last commit, so that a crash before
// the end of their superstep does not repeat them.
void Transition::save_unsaved(const Moment& moment) {
  for (std::size_t position : std::exchange(run_.unsaved_inside, {})) {
    if (position >= run_.tasks.size() || run_.tasks[position].phase != Phase::in_subgraph) continue;
    NodeTask& task = run_.tasks[position];
    Transition(task, *this).save_unsaved(moment);
  }
  std::vector<std::size_t> unsaved = std::exchange(run_.unsaved, {});
  if (is_final(run_.row.status)) return;
  for (std::size_t position : unsaved) {
    if (position >= run_.tasks.size()) continue;
    NodeTask& task = run_.tasks[position];
    if (task.phase == Phase::done && !task.saved) {
      auto values = pending_values(graph_, run_, task);
      if (!values.ok()) return fail(values.error(), moment, 1);
      append_all(pending().values, *values);
      run_.pending_superstep = run_.superstep;
      task.saved = true;
    }
    pending().tasks.push_back(task_row(run_, task, root().run_.row.seq));
  }
}

}  // namespace belay::engine
