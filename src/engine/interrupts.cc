// The part of Transition that requests approvals and applies decisions to them.

#include <algorithm>

#include "engine/decision.h"
#include "engine/transition.h"
#include "graph/call_guarded.h"

namespace belay::engine {
namespace {

CommitKind kind_of(Decided::Verdict verdict) {
  return verdict == Decided::Verdict::expired ? CommitKind::expiry : CommitKind::decision;
}

Value detail_of(const Decided& event) {
  Value::Object detail{{"verdict", name_of(event.verdict)}, {"decidedBy", event.decided_by}};
  if (!event.on_behalf_of.empty()) detail.emplace("onBehalfOf", event.on_behalf_of);
  return Value(std::move(detail));
}

ChannelWrite flag(const GraphDefinition& graph, std::size_t channel, bool value) {
  ChannelWrite change;
  change.channel = channel;
  change.operand = stored_operand(graph.state->channels[channel], WriteOp::set, Value(value));
  return change;
}

}  // namespace

ApprovalRow Transition::approval_row(const NodeTask& task, const Moment& moment,
                                     const std::string& payload, milliseconds expires) const {
  ApprovalRow row;
  row.tenant = run_.row.tenant;
  row.thread = run_.row.thread;
  row.run = run_.row.run;
  row.task = task.id;
  row.user = run_.row.user;
  row.graph = run_.row.graph;
  row.node = task.node->name;
  row.payload = json_envelope(payload);
  row.payload_hash = sha256(payload);
  const Transition* top = this;
  while (top->outer_) top = top->outer_;
  row.seq = top->run_.row.seq + 1;
  row.created_at = std::max(moment.now, top->run_.row.updated_at);
  row.expires_at = row.created_at + run_.options.approval_expires.value_or(expires);
  return row;
}

void Transition::ask_for_approval(NodeTask& task, const Moment& moment) {
  const GraphDefinition::Node& node = *task.node;
  const GraphDefinition::Approval& asked = *node.approval;
  Encoder payload;
  const void* state = run_.state.get();
  graph_.state->channels[asked.channel].encode(state, payload, nullptr);
  ApprovalRow approval = approval_row(task, moment, payload.text, asked.options.expires);
  approval.interrupt = InterruptId(derived_uuid(task.id.text() + "approval"));
  auto question = call_guarded<std::string>("The question of \"" + node.name + "\"", [&]() {
    return Result<std::string>(asked.question ? asked.question(state) : asked.options.question);
  });
  if (!question.ok()) return fail(question.error(), moment);
  approval.question = *std::move(question);
  for (const std::string& role : asked.options.roles) {
    if (!approval.roles.empty()) approval.roles += ',';
    approval.roles += role;
  }
  std::vector<std::size_t> changed;
  if (asked.pending_flag && !is_parallel(run_)) {
    asked.set_awaiting(owned_state(graph_, run_), true);
    changed.push_back(*asked.pending_flag);
  }
  ask(task, std::move(approval), std::move(changed), moment);
}

// Requests a decision. A lone task of the run pauses it with the same commit. In a superstep with
// several tasks, or in a subgraph, the run pauses only when no other task can continue: see
// finish().
void Transition::ask(NodeTask& task, ApprovalRow approval, std::vector<std::size_t> changed,
                     const Moment& moment) {
  task.phase = Phase::interrupted;
  task.interrupt = approval.interrupt;
  if (is_parallel(run_)) {
    task.due = approval.expires_at;
    pending().opened.push_back(std::move(approval));
    mark_unsaved(task);
    return start_ready(moment);
  }
  Step step;
  step.kind = CommitKind::pause;
  step.node = task.node->name;
  step.set = std::move(changed);
  if (is_inner()) {
    task.due = approval.expires_at;
    pending().opened.push_back(std::move(approval));
    return commit(std::move(step), moment);
  }
  run_.row.status = RunStatus::paused;
  run_.row.reason = "approval";
  run_.row.session = SessionId();
  run_.row.due_at = approval.expires_at;
  step.detail = Value::object(
      {{"interrupt", approval.interrupt.text()}, {"expiresAt", to_text(approval.expires_at)}});
  commit(std::move(step), moment);
  // Deferred channels of this commit might not be writable. The run has failed then, and the
  // approval must not be opened.
  if (run_.row.status == RunStatus::paused) {
    work_.commit->rows.opened.push_back(std::move(approval));
  }
}

void Transition::take_ownership(const SessionId& session, const Moment& moment) {
  run_.working_since = moment.now;
  run_.row.session = session;
  run_.row.status = RunStatus::running;
  run_.row.reason.clear();
  run_.row.due_at = Instant();
  guard_epoch_ = run_.row.epoch++;
  note_waiting(run_);
}

void Transition::on(Decided event) {
  bool wakes = run_.row.status == RunStatus::paused;
  if (!wakes && !(is_running() && event.is_stored)) return;
  // If no task waits for the decision (a second delivery, or one that came too late), the run must
  // remain unchanged: this is checked before take_ownership().
  if (!waits_for(run_, event.approval.interrupt)) return;
  if (wakes) take_ownership(event.session, event.moment);
  to_queue_ = wakes && event.to_queue;
  Decided decided = event;
  decided_inside(event);
  // A running run needs no further commit: the decision is stored already (`is_stored`).
  if (!wakes) return;
  if (!work_.commit) {
    Step step;
    step.kind = kind_of(decided.verdict);
    step.node = decided.approval.node;
    step.detail = detail_of(decided);
    step.is_midway = is_parallel(run_);
    save_unsaved(event.moment);
    if (!work_.commit) commit(std::move(step), event.moment);
  }
  if (!decided.is_stored) attach_decision(std::move(decided));
}

// Finds the task that waits for the approval, in this frame or an inner one, and applies the
// decision to it.
bool Transition::decided_inside(Decided& event) {
  for (NodeTask& task : run_.tasks) {
    if (task.phase == Phase::interrupted && task.interrupt == event.approval.interrupt) {
      decided_here(task, event);
      return true;
    }
    if (task.phase != Phase::in_subgraph) continue;
    Transition inner(task, *this);
    if (inner.decided_inside(event)) return true;
  }
  return false;
}

void Transition::decided_here(NodeTask& task, Decided& event) {
  if (task.node->approval) return answer_approval(task, event);
  answer_question(task, event);
}

// Completes the approval node: its update contains the edited payload and the flags, and selects
// the target of the verdict.
void Transition::answer_approval(NodeTask& task, Decided& event) {
  const GraphDefinition::Approval& asked = *task.node->approval;
  bool approved = event.verdict == Decided::Verdict::approved;
  if (approved && event.edited) {
    Decoder in;
    std::shared_ptr<void> tried = graph_.state->copy(run_.state.get());
    const ChannelType& channel = graph_.state->channels[asked.channel];
    if (!channel.decode(*event.edited, tried.get(), in, nullptr)) {
      return fail(error(ErrorCode::invalid, "The edited payload does not fit: " + in.problem),
                  event.moment);
    }
    ChannelWrite change;
    change.channel = asked.channel;
    change.operand = stored_operand(channel, WriteOp::set, *event.edited);
    task.answer.changes.push_back(std::move(change));
  }
  if (asked.pending_flag && !is_parallel(run_)) {
    task.answer.changes.push_back(flag(graph_, *asked.pending_flag, false));
  }
  if (asked.decision_flag)
    task.answer.changes.push_back(flag(graph_, *asked.decision_flag, approved));
  task.answer.go_to.push_back(approved ? asked.approved : asked.rejected);
  task.interrupt = InterruptId();
  task_done(task, event.moment, kind_of(event.verdict), detail_of(event));
}

void Transition::answer_question(NodeTask& task, Decided& event) {
  if (auto sound = check_shown(event.approval); !sound.ok())
    return fail(sound.error(), event.moment);
  InterruptResponse answer;
  answer.approved = event.verdict == Decided::Verdict::approved;
  answer.decided_by = event.decided_by;
  answer.comment = event.comment;
  // check_shown() above guarantees that the payload is the JSON text that was stored with the
  // request.
  answer.payload = event.edited
                       ? *event.edited
                       : parse_json(*json_in_envelope(event.approval.payload)).value_or(Value());
  task.answers.emplace_back(std::move(task.question), std::move(answer));
  task.question.clear();
  task.interrupt = InterruptId();
  task.due = Instant();
  task.phase = Phase::ready;
  run_.first_ready = std::min(run_.first_ready, task.position);
  if (is_parallel(run_)) return mark_unsaved(task);
  if (!is_inner()) return;
  Step step;
  step.kind = kind_of(event.verdict);
  step.node = task.node->name;
  commit(std::move(step), event.moment);
}

void Transition::attach_decision(Decided event) {
  ApprovalRow decided = decided_row(std::move(event));
  ApprovalGuard guard;
  guard.interrupt = decided.interrupt;
  guard.payload_hash = decided.payload_hash;
  guard.expiry = decided.status == ApprovalStatus::expired ? ApprovalGuard::Expiry::passed
                                                           : ApprovalGuard::Expiry::ahead;
  work_.commit->approval_guard = guard;
  work_.commit->rows.decided = std::move(decided);
}

// Clears the pending flag of an approval that the cancelled run waited for.
void Transition::clear_awaiting(Step& step) {
  if (is_parallel(run_)) return;
  for (const NodeTask& task : run_.tasks) {
    if (!task.node->approval || !task.node->approval->pending_flag) continue;
    task.node->approval->set_awaiting(owned_state(graph_, run_), false);
    step.set.push_back(*task.node->approval->pending_flag);
  }
}

void collect_open_interrupts(const Run& run, std::vector<InterruptId>& asked) {
  for (const NodeTask& task : run.tasks) {
    if (task.phase == NodeTask::Phase::interrupted) asked.push_back(task.interrupt);
    if (task.phase == NodeTask::Phase::in_subgraph) collect_open_interrupts(*task.inner, asked);
  }
}

bool waits_for(const Run& run, const InterruptId& interrupt) {
  return std::any_of(run.tasks.begin(), run.tasks.end(), [&](const NodeTask& task) {
    return (task.phase == NodeTask::Phase::interrupted && task.interrupt == interrupt) ||
           (task.phase == NodeTask::Phase::in_subgraph && waits_for(*task.inner, interrupt));
  });
}

void note_waiting(Run& run) {
  using Phase = NodeTask::Phase;
  run.tasks_to_check.clear();
  for (NodeTask& task : run.tasks) {
    bool waits = task.phase == Phase::backing_off || task.phase == Phase::sleeping;
    if (waits || task.phase == Phase::in_subgraph) run.tasks_to_check.push_back(task.position);
    if (task.phase == Phase::in_subgraph) note_waiting(*task.inner);
  }
}

}  // namespace belay::engine
