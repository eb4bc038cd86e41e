// advance(): what each event does to a run. Pure: no I/O, no clock, no randomness.
//
// Long on purpose: all events are handled in one place.

#include "engine/advance.h"

#include <algorithm>

#include "belay/limits.h"
#include "engine/decision.h"
#include "engine/route.h"
#include "engine/transition.h"
#include "graph/question.h"

namespace belay::engine {
namespace {

// Backoff after the n-th failure: min(2^n * base, cap) +-20 %, at least the error's retry_after.
std::chrono::microseconds wait_after(const RetryPolicy& policy, const NodeFailed& event) {
  std::int64_t factor = std::int64_t{1} << std::min(event.of.attempt, 30);
  std::int64_t base = std::max<std::int64_t>(policy.base.count(), 0);
  std::int64_t wait = base > policy.cap.count() / factor ? policy.cap.count() : base * factor;
  std::int64_t permille = 800 + static_cast<std::int64_t>(event.moment.entropy % 401);
  std::chrono::microseconds jittered(wait * permille);
  if (!event.error.retry_after) return jittered;
  return std::max<std::chrono::microseconds>(jittered, *event.error.retry_after);
}

// Resets the tasks that were running in the previous owner: they are not running in this process.
void forget_attempts(Run& run) {
  run.running = 0;
  run.first_ready = 0;
  for (NodeTask& task : run.tasks) {
    // A retry that had started keeps its due time, so that the stored task does not depend on
    // which process writes it.
    bool is_retry = task.due != Instant();
    if (task.phase == NodeTask::Phase::running) {
      task.phase = is_retry ? NodeTask::Phase::backing_off : NodeTask::Phase::ready;
    }
    if (task.phase == NodeTask::Phase::in_subgraph) forget_attempts(*task.inner);
  }
}

bool rests(RunStatus status) { return status != RunStatus::running; }

// Appends the names of the nodes with a running attempt.
void list_running(const Run& run, Value::Array& nodes) {
  for (const NodeTask& task : run.tasks) {
    if (task.phase == NodeTask::Phase::running) nodes.emplace_back(task.node->name);
    if (task.phase == NodeTask::Phase::in_subgraph) list_running(*task.inner, nodes);
  }
}

// True if the last owner has completed a task since its claim. Pending writes do not change the
// run's row, and therefore do not reset its lost_claims; the tasks show the progress.
bool has_progressed(const Run& run, std::uint64_t seq, std::uint64_t epoch) {
  return std::any_of(run.tasks.begin(), run.tasks.end(), [&](const NodeTask& task) {
    if (task.phase == NodeTask::Phase::done) return task.saved_at == seq;
    if (task.phase != NodeTask::Phase::in_subgraph) return false;
    return task.inner->row.epoch == epoch || has_progressed(*task.inner, seq, epoch);
  });
}

template <typename Happened>
Moment moment_of(const Happened& event) {
  return event.moment;
}

}  // namespace

std::vector<std::size_t> Transition::path() const {
  if (!outer_) return {};
  std::vector<std::size_t> path = outer_->path();
  path.push_back(position_);
  return path;
}

template <typename Happened>
bool Transition::pass_inside(Happened& event, std::size_t depth,
                             void (Transition::*handle)(Happened&)) {
  if (depth == event.of.path.size()) {
    (this->*handle)(event);
    return true;
  }
  std::size_t position = event.of.path[depth];
  if (position >= run_.tasks.size() || run_.tasks[position].phase != Phase::in_subgraph)
    return false;
  NodeTask& task = run_.tasks[position];
  Transition inner(task, *this);
  return inner.pass_inside(event, depth + 1, handle);
}

NodeTask* Transition::task_of(const AttemptId& attempt, Phase phase) {
  if (!is_running() || !root().is_running() || attempt.position >= run_.tasks.size())
    return nullptr;
  NodeTask& task = run_.tasks[attempt.position];
  bool is_it = task.id == attempt.task && task.attempt == attempt.attempt && task.phase == phase;
  return is_it ? &task : nullptr;
}

void Transition::open_row(const Moment& moment) {
  run_.working_since = moment.now;
  run_.row.created_at = moment.now;
  run_.row.updated_at = moment.now;
  run_.row.status = RunStatus::running;
  run_.row.epoch = 1;
  guard_epoch_ = 0;
}

void Transition::on(Started event) {
  open_row(event.moment);
  if (event.queued_until) {
    run_.row.due_at = *event.queued_until;
    run_.row.session = SessionId();
  }
  run_.begins = false;  // this commit is the one that starts it
  start_records_ = std::move(event.records);
  adopt_materials();
  start_run(event.moment);
}

void Transition::on(Forked event) {
  RunStatus end = run_.row.status;
  open_row(event.moment);
  if (is_final(end)) {  // a copy of a run that has ended: nothing is executed
    run_.row.status = end;
    run_.row.session = SessionId();
  } else {
    adopt_materials();
  }
  for (NodeTask& task : run_.tasks) {
    if (task.phase == Phase::done) mark_unsaved(task);
  }
  to_queue_ = event.to_queue;
  Step step;
  step.kind = CommitKind::fork;
  step.detail = Value::object({{"from", run_.row.forked_from.text()},
                               {"seq", static_cast<std::uint64_t>(run_.row.forked_at)}});
  if (!event.request.empty()) {
    step.detail.as_object()->emplace("request", std::move(event.request));
  }
  commit(std::move(step), event.moment);
}

void Transition::on(Claimed event) {
  // A paused run is not claimed: only a decision, a due timer or a person continues it.
  if (is_final(run_.row.status) || run_.row.status == RunStatus::paused) {
    work_.stops = true;
    return;
  }
  if (run_.row.status == RunStatus::quarantined && !event.is_manual) {
    work_.stops = true;
    return;
  }
  // Running with an owner: that owner died or failed, since a release would have queued the run.
  bool was_lost = run_.row.status == RunStatus::running && !run_.row.session.is_null();
  bool starts_over = event.is_manual || has_progressed(run_, run_.row.seq, run_.row.epoch);
  run_.row.lost_claims = (starts_over ? 0 : run_.row.lost_claims) + (was_lost ? 1 : 0);
  if (event.is_manual) run_.row.lost_claims = 0;
  forget_attempts(run_);
  take_ownership(event.session, event.moment);
  Step step;
  step.kind = CommitKind::claim;
  step.node = run_.row.node;
  step.is_midway = is_parallel(run_);
  // Such a run might be the cause of the deaths: it must not take down one worker after another.
  if (run_.row.lost_claims > limits::lost_claims_max) {
    run_.row.status = RunStatus::quarantined;
    run_.row.session = SessionId();
    run_.row.reason = "lost " + std::to_string(run_.row.lost_claims) + " processes";
    step.kind = CommitKind::quarantine;
    step.detail = Value::object({{"lostClaims", run_.row.lost_claims}});
    return commit(std::move(step), event.moment);
  }
  if (run_.cannot_begin) return fail(*std::exchange(run_.cannot_begin, {}), event.moment);
  if (std::exchange(run_.begins, false)) {
    if (!schedule_first_tasks(step, event.moment)) return;
    if (run_.at_breakpoint) stop_at_breakpoint();
  }
  commit(std::move(step), event.moment);
}

void Transition::on(Committed event) {
  if (rests(run_.row.status)) {
    work_.stops = true;
    return;
  }
  work_.more = event.more;
  if (run_.row.worked_ms >= run_.options.timeout.count()) return on(RunTimedOut{event.moment});
  continue_tasks(event.moment);
}

void Transition::on(NodeEnded event) {
  work_.more = event.more;
  pass_inside(event, 0, &Transition::ended_here);
}

void Transition::ended_here(NodeEnded& event) {
  NodeTask* task = task_of(event.of, Phase::running);
  if (!task) return;
  --run_.running;
  keep_journal(event.effects);
  task->answer = std::move(event.answer);
  add_effects(task->effects, std::move(event.effects));
  Value::Object detail;
  if (event.of.attempt != 1) detail.emplace("attempt", event.of.attempt);
  // The number of effect rows of the task: a journal that has lost one is detected by it. In a
  // superstep with several tasks, the row of the task contains the number.
  auto journaled = static_cast<std::int64_t>(task->effects.journaled);
  if (journaled > 0 && !is_parallel(run_)) detail.emplace("effects", journaled);
  Value told = detail.empty() ? Value() : Value(std::move(detail));
  task_done(*task, event.moment, CommitKind::node, std::move(told));
}

void Transition::on(NodeFailed event) { pass_inside(event, 0, &Transition::failed_here); }

void Transition::failed_here(NodeFailed& event) {
  NodeTask* task = task_of(event.of, Phase::running);
  if (!task) return;
  --run_.running;
  keep_journal(event.effects);
  const GraphDefinition::Node& node = *task->node;
  int allowed = node.retry.attempts;
  if (allowed > 1 && run_.options.max_retries) allowed = std::max(1, *run_.options.max_retries);
  add_effects(task->effects, std::move(event.effects));
  // Only `unavailable` permits a retry.
  if (event.error.code != ErrorCode::unavailable || event.of.attempt >= allowed) {
    return fail(std::move(event.error), event.moment, 1);
  }
  ++root().run_.row.retry_count;
  task->phase = Phase::backing_off;
  task->attempt = event.of.attempt + 1;
  task->due = event.moment.now + wait_after(node.retry, event);
  task->previous_error = event.error;
  run_.tasks_to_check.push_back(task->position);
  if (is_parallel(run_)) {
    mark_unsaved(*task);
    return start_ready(event.moment);
  }
  Step step;
  step.kind = CommitKind::attempt;
  step.node = node.name;
  step.effects = std::exchange(task->effects, {});
  step.detail = Value::object({{"attempt", event.of.attempt},
                               {"error", std::move(event.error.message)},
                               {"due", to_text(task->due)}});
  commit(std::move(step), event.moment);
}

void Transition::on(NodeInterrupted event) { pass_inside(event, 0, &Transition::asked_here); }

void Transition::asked_here(NodeInterrupted& event) {
  NodeTask* task = task_of(event.of, Phase::running);
  if (!task) return;
  --run_.running;
  keep_journal(event.effects);
  std::string payload = to_json(event.question.payload);
  ApprovalTerms terms;
  terms.choices = std::move(event.question.choices);
  if (terms.choices.empty()) terms.choices = {{"approve", "", true}, {"reject", "", false}};
  terms.on_expiry = std::move(event.question.on_expiry);
  ApprovalRow approval = approval_row(*task, event.moment, payload, event.question.expires, terms);
  task->question = question_key(event.question.name, payload);
  approval.interrupt = interrupt_of(task->id, task->question);
  approval.question = std::move(event.question.text);
  ask(*task, std::move(approval), {}, event.moment);
}

void Transition::on(TaskDue event) { pass_inside(event, 0, &Transition::due_here); }

void Transition::due_here(TaskDue& event) {
  if (NodeTask* task = task_of(event.of, Phase::backing_off)) {
    if (root().run_.is_draining) return;  // the next owner starts the retry
    task->phase = Phase::running;
    ++run_.running;
    work_.actions.emplace_back(StartNode{event.of, task->node, run_.state});
  } else if (NodeTask* slept = task_of(event.of, Phase::sleeping)) {
    task_done(*slept, event.moment, CommitKind::timer, Value());
  }
}

void Transition::on(RunTimedOut event) {
  if (!is_running()) return;
  fail(error(ErrorCode::exhausted, "The run worked for longer than its " +
                                       std::to_string(run_.options.timeout.count()) +
                                       " ms. Increase the timeout, or reduce the work."),
       event.moment);
}

void Transition::on(Resumed event) {
  if (run_.row.status == RunStatus::queued) return on(Claimed{event.moment, event.session, true});
  if (run_.row.status != RunStatus::paused) return;
  if (!run_.at_breakpoint && !any_timer_due(run_, event.moment.now)) return;
  take_ownership(event.session, event.moment);
  if (run_.at_breakpoint && event.breakpoints) {
    run_.breakpoints_since = *event.breakpoints == run_.options.breakpoints
                                 ? std::nullopt
                                 : std::move(event.breakpoints);
  }
  run_.at_breakpoint = false;
  Moment moment = event.moment;
  if (!is_parallel(run_) && run_.tasks.front().phase == Phase::sleeping) {
    return task_done(run_.tasks.front(), moment, CommitKind::timer, Value());
  }
  Step step;
  step.kind = CommitKind::timer;
  step.node = run_.row.node;
  step.is_midway = is_parallel(run_);
  commit(std::move(step), moment);
}

void Transition::on(Consented event) {
  if (is_final(run_.row.status)) return;
  // The higher epoch fences a process that has the run without this consent.
  guard_epoch_ = run_.row.epoch++;
  Step step;
  step.kind = CommitKind::consent;
  step.node = run_.row.node;
  Value::Object detail{{"by", event.consent.by}, {"materials", value_of(event.accepted)}};
  if (!event.consent.on_behalf_of.empty()) {
    detail.emplace("onBehalfOf", event.consent.on_behalf_of);
  }
  step.detail = Value(std::move(detail));
  step.is_midway = is_parallel(run_);
  for (const auto& [group, text] : event.accepted) {
    run_.materials.erase(group);
    if (!text.empty()) run_.materials.emplace(group, text);
  }
  commit(std::move(step), event.moment);
}

void Transition::on(RecordChanged event) {
  if (!is_running()) return;
  if (!event.fails) {
    forget_attempts(run_);
    return continue_tasks(event.moment);
  }
  fail(error(ErrorCode::conflict,
             "A record that a node saves was changed by another commit each time since the node "
             "read it. Let fewer runs save it, and repeat the run."),
       event.moment, 1);
}

void Transition::on(Released event) {
  run_.is_draining = true;
  if (is_running() && event.is_urgent) release(event.moment);
}

// Releases the run to its queue. Results of tasks are saved with it, as pending writes.
void Transition::release(const Moment& moment) {
  save_unsaved(moment);
  if (work_.commit || !is_running()) return;
  Value::Array given_up;
  list_running(run_, given_up);
  wait_in_queue(moment);
  forget_attempts(run_);
  Step step;
  step.kind = CommitKind::release;
  step.node = run_.row.node;
  step.is_midway = is_parallel(run_);
  if (!given_up.empty()) step.detail = Value::object({{"givenUp", std::move(given_up)}});
  commit(std::move(step), moment);
}

void Transition::on(EffectsRecorded event) {
  if (!is_running()) return;
  run_.may_have_intents = true;
  append_all(pending().effects, event.rows);
  if (!run_.has_uncommitted_steps) return;
  work_.flushes = true;
  Step step;
  step.node = run_.row.node;
  commit(std::move(step), event.moment);
}

void Transition::on(Damaged event) {
  work_.commit = std::make_unique<Commit>(
      quarantine_step(run_, std::move(event.newest), std::move(event.reason), event.moment));
}

void Transition::on(Cancelled event) {
  if (is_final(run_.row.status)) return;
  if (event.is_worked_on) run_.working_since = run_.row.updated_at;
  // The higher epoch fences the owner: none of its later commits passes its guard.
  guard_epoch_ = run_.row.epoch++;
  run_.row.status = RunStatus::cancelled;
  run_.row.reason.clear();
  run_.row.session = SessionId();
  run_.row.due_at = Instant();
  Step step;
  step.kind = CommitKind::cancel;
  step.node = run_.row.node;
  Value::Object detail{{"by", event.by}};
  if (!event.on_behalf_of.empty()) detail.emplace("onBehalfOf", event.on_behalf_of);
  if (event.lacks_code) detail.emplace("codeGone", true);
  step.detail = Value(std::move(detail));
  // Pending writes must not become part of the state if their superstep does not end.
  step.is_midway = is_parallel(run_);
  if (!event.lacks_code) clear_awaiting(step);
  step.effects.events = take_events(run_);
  run_.tasks.clear();
  commit(std::move(step), event.moment);
}

void Transition::finish(const Moment& moment) {
  if (work_.refusal) {
    work_.actions.emplace_back(Refuse{*std::move(work_.refusal)});
    return;
  }
  // Pending writes come after the commit that scheduled their superstep, so they are not added to a
  // commit that starts the next one. If another event follows immediately, they can wait for its
  // commit. They cannot wait if this event commits rows of a subgraph: if the subgraph's last
  // commit were stored without the end of the outer task, the run could not continue after a crash.
  if (!work_.commit && (!work_.more || work_.has_pending)) save_unsaved(moment);
  // The run does not pause if another event follows (`more`): that can be the decision that the run
  // would wait for.
  if (!work_.more && !work_.commit && is_running() && run_.running == 0 && run_.unfinished > 0 &&
      is_blocked(run_, moment.now)) {
    pause(moment);
  }
  // Not with a commit of this event, such as the end of the superstep: the release then follows
  // when that commit is durable.
  if (run_.is_draining && !work_.more && !work_.commit && is_running() && !any_running(run_)) {
    release(moment);
  }
  // Rows of model calls join the commit of this event. If it has no commit, they wait while another
  // event or deferred steps are about to cause a commit, and are otherwise committed alone.
  bool writes = work_.commit || work_.has_pending || !(work_.more || defers_commit());
  if (writes && !run_.deferred_journal.empty()) {
    auto held = std::exchange(run_.deferred_journal, {});
    append_all(held, pending().effects);
    pending().effects = std::move(held);
  }
  if (work_.commit) {
    CommitRows& rows = work_.commit->rows;
    append_all(rows.values, work_.pending.values);
    append_all(rows.tasks, work_.pending.tasks);
    append_all(rows.effects, work_.pending.effects);
    append_all(rows.opened, work_.pending.opened);
    append_all(rows.inner_checkpoints, work_.pending.inner_checkpoints);
  } else if (work_.has_pending) {
    work_.commit = std::make_unique<Commit>();
    work_.commit->tenant = run_.row.tenant;
    work_.commit->run_guard = RunGuard{run_.row.epoch, run_.row.seq, run_.row.run};
    work_.commit->rows = std::move(work_.pending);
  }
  if (work_.commit) {
    work_.actions.emplace_back(
        WriteCommit{std::move(work_.commit), work_.may_lag, std::move(work_.if_expired)});
  }
  if (work_.stops) work_.actions.emplace_back(Stop{});
}

Advance advance(const GraphDefinition& graph, Run&& run, Event event) {
  TransitionOutput work;
  Transition advancing(graph, run, work);
  Moment moment = std::visit([](const auto& happened) { return moment_of(happened); }, event);
  std::visit([&](auto& happened) { advancing.on(std::move(happened)); }, event);
  advancing.finish(moment);
  return {std::move(run), std::move(work.actions)};
}

}  // namespace belay::engine
