// The part of Transition that requests approvals and applies decisions to them.

#include <algorithm>

#include "engine/advance.h"
#include "engine/decision.h"
#include "engine/edited_payload.h"
#include "engine/expiry_message.h"
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
  std::string_view plain = event.verdict == Decided::Verdict::approved ? "approve" : "reject";
  if (!event.choice.empty() && event.choice != plain) detail.emplace("choice", event.choice);
  return Value(std::move(detail));
}

ChannelWrite flag(const GraphDefinition& graph, std::size_t channel, bool value) {
  ChannelWrite change;
  change.channel = channel;
  change.operand = stored_operand(graph.state->channels[channel], WriteOp::set, Value(value));
  return change;
}

// The error of a run whose approval leads nowhere.
Error no_way(const NodeTask& task, const Decided& event, const std::string& choice) {
  std::string name = "The approval \"" + task.node->name + "\"";
  if (event.verdict == Decided::Verdict::expired && choice == "fail") {
    return error(ErrorCode::exhausted, name + " expired without a decision.");
  }
  return error(ErrorCode::invalid,
               name + " has no choice \"" + choice + "\" in this version of the graph.");
}

// The change of the state by an edited payload.
Result<ChannelWrite> edit_of(const GraphDefinition& graph, const Run& run, std::size_t shown,
                             const Value& edited) {
  Decoder in;
  std::shared_ptr<void> tried = graph.state->copy(run.state.get());
  const ChannelType& channel = graph.state->channels[shown];
  if (!channel.decode(edited, tried.get(), in, nullptr)) {
    return error(ErrorCode::invalid, "The edited payload does not fit: " + in.problem);
  }
  ChannelWrite change;
  change.channel = shown;
  change.operand = stored_operand(channel, WriteOp::set, edited);
  return change;
}

// Returns the event of the expiry that is recorded instead of a decision. Its checkpoint has
// another id: if the commit is sent again after a lost reply, the store recognises by the id which
// of the two it wrote.
Decided expiry_of(Decided event) {
  event.verdict = Decided::Verdict::expired;
  event.moment.entropy = ~event.moment.entropy;
  event.decided_by.clear();
  event.on_behalf_of.clear();
  event.comment.clear();
  event.edited.reset();
  event.choice.clear();
  event.answer = Value();
  event.votes.clear();
  return event;
}

}  // namespace

ApprovalRow Transition::approval_row(const NodeTask& task, const Moment& moment,
                                     const std::string& payload, milliseconds expires,
                                     const ApprovalTerms& terms) const {
  ApprovalRow row;
  row.tenant = run_.row.tenant;
  row.thread = run_.row.thread;
  row.run = run_.row.run;
  row.task = task.id;
  row.user = run_.row.user;
  row.graph = run_.row.graph;
  row.node = task.node->name;
  row.payload = detail::payload_envelope(payload, terms);
  row.payload_hash = sha256(payload);
  const Transition* top = this;
  while (top->outer_) top = top->outer_;
  row.seq = top->run_.row.seq + 1;
  row.created_at = std::max(moment.now, top->run_.row.updated_at);
  milliseconds time = run_.options.approval_expires.value_or(expires);
  row.expires_at = time == Expiry::never ? never_expires : row.created_at + time;
  return row;
}

void Transition::ask_for_approval(NodeTask& task, const Moment& moment) {
  const GraphDefinition::Node& node = *task.node;
  const GraphDefinition::Approval& asked = *node.approval;
  Encoder payload;
  const void* state = run_.state.get();
  graph_.state->channels[asked.channel].encode(state, payload, nullptr);
  ApprovalRow approval =
      approval_row(task, moment, payload.text, asked.options.expires, terms_of(asked));
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
  run_.row.reason = name_of(PauseReason::approval);
  run_.row.session = SessionId();
  run_.row.due_at = approval.expires_at;
  step.detail = Value::object(
      {{"interrupt", approval.interrupt.text()}, {"expiresAt", expiry_value(approval)}});
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
  adopt_materials();
  note_waiting(run_);
}

// A state that was converted for other materials is stored with a later commit: until then, a
// restart must convert it again.
void Transition::adopt_materials() {
  if (!run_.is_upgraded) run_.materials = bill_of(graph_);
}

void Transition::on(Decided event) {
  bool is_paused = run_.row.status == RunStatus::paused;
  bool is_queued = run_.row.status == RunStatus::queued && !event.is_stored;
  if (!is_paused && !is_running() && !is_queued) return;
  // If no task waits for the decision (a second delivery, or one that came too late), the run must
  // remain unchanged: this is checked before take_ownership().
  if (!waits_for(run_, event.approval.interrupt)) return;
  if (!event.is_stored) {
    auto fits = check_shown_and_edit(run_, graph_, event);
    if (!fits.ok()) {
      work_.refusal = std::move(fits).error();
      return;
    }
  }
  if (is_vote(event)) return vote(std::move(event));
  if (is_paused) return decide_paused(std::move(event));
  if (!event.is_stored) return decide_active(std::move(event));
  // The decision is stored already: the owner needs no further commit.
  work_.more = event.more;
  decided_inside(event);
}

void Transition::decide_paused(Decided event) {
  bool can_expire = !event.is_stored && event.verdict != Decided::Verdict::expired;
  std::optional<Run> late;
  if (can_expire) late = copy_of(run_);
  take_ownership(event.session, event.moment);
  to_queue_ = event.to_queue;
  Decided decided = event;
  decided_inside(event);
  if (!work_.commit) {
    Step step;
    step.kind = kind_of(decided.verdict);
    step.node = decided.approval.node;
    step.detail = detail_of(decided);
    step.is_midway = is_parallel(run_);
    save_unsaved(event.moment);
    if (!work_.commit) commit(std::move(step), event.moment);
  }
  if (late) attach_expiry(*std::move(late), decided);
  if (!decided.is_stored) attach_decision(std::move(decided));
}

// Without a RunGuard: the commit changes neither seq nor epoch, and does not fence the owner. If
// the owner pauses the run first, ApprovalGuard::run_is_active does not hold. If this commit is
// first, the pause does not pass its Commit::require_open. Neither order loses the decision.
void Transition::decide_active(Decided event) {
  work_.commit = std::make_unique<Commit>();
  work_.commit->tenant = run_.row.tenant;
  if (event.verdict != Decided::Verdict::expired) {
    attach_decided(expiry_of(event), work_.commit->if_expired.emplace());
  }
  attach_decision(std::move(event));
  work_.commit->approval_guard->run_is_active = true;
}

// The approval stays open. Without a RunGuard, whatever the run does meanwhile: the approval closes
// when the run ends.
void Transition::vote(Decided event) {
  work_.commit = std::make_unique<Commit>();
  work_.commit->tenant = run_.row.tenant;
  attach_decision(std::move(event));
}

void Transition::on(ExpiredWhileActive event) {
  if (auto sound = check_shown(event.approval); !sound.ok()) {
    work_.refusal = sound.error();
    return;
  }
  Decided expiry;
  expiry.moment = event.moment;
  expiry.approval = std::move(event.approval);
  expiry.verdict = Decided::Verdict::expired;
  decide_active(std::move(expiry));
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
// the target of the choice.
void Transition::answer_approval(NodeTask& task, Decided& event) {
  const GraphDefinition::Approval& asked = *task.node->approval;
  auto terms = terms_of(event.approval);
  if (!terms.ok()) return fail(terms.error(), event.moment);
  bool approves = event.verdict == Decided::Verdict::approved;
  std::string choice = event.choice;
  if (event.verdict == Decided::Verdict::expired) {
    choice = terms->when_expired;
    const ApprovalChoice* known = terms->find(choice);
    approves = known && known->approves;
  } else if (choice.empty()) {
    choice = approves ? "approve" : "reject";
  }
  std::string target = target_of(asked, choice);
  if (target.empty()) return fail(no_way(task, event, choice), event.moment);
  if (approves && event.edited) {
    auto change = edit_of(graph_, run_, asked.channel, *event.edited);
    if (!change.ok()) return fail(change.error(), event.moment);
    task.answer.changes.push_back(*std::move(change));
  }
  if (asked.pending_flag && !is_parallel(run_)) {
    task.answer.changes.push_back(flag(graph_, *asked.pending_flag, false));
  }
  if (asked.decision_flag)
    task.answer.changes.push_back(flag(graph_, *asked.decision_flag, approves));
  task.answer.go_to.push_back(std::move(target));
  task.decided = decision_for_node(event, std::move(choice), approves);
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
  answer.choice = event.choice;
  if (answer.choice.empty() && event.verdict != Decided::Verdict::expired) {
    answer.choice = answer.approved ? "approve" : "reject";
  }
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

// Adds the row of the decided approval, and with an expiry its message: check_shown() has found
// that the stored message can be read.
void Transition::attach_decided(Decided event, CommitRows& rows) {
  Instant now = event.moment.now;
  rows.decided = decided_row(std::move(event));
  if (rows.decided->status != ApprovalStatus::expired) return;
  auto message = expiry_outbox_row(*rows.decided, now);
  if (!message.ok()) {
    work_.refusal = std::move(message).error();
  } else if (*message) {
    rows.outbox.push_back(**std::move(message));
  }
}

void Transition::attach_decision(Decided event) {
  CommitRows& rows = work_.commit->rows;
  Instant voted_at = event.approval.decided_at;
  attach_decided(std::move(event), rows);
  ApprovalGuard guard;
  guard.interrupt = rows.decided->interrupt;
  guard.payload_hash = rows.decided->payload_hash;
  guard.decided_at = voted_at;
  guard.expiry = rows.decided->status == ApprovalStatus::expired ? ApprovalGuard::Expiry::passed
                                                                 : ApprovalGuard::Expiry::ahead;
  work_.commit->approval_guard = guard;
}

// One commit contains both outcomes: the decision, and the expiry that is written instead if the
// approval has expired. The store compares the expiry with its own clock within the transaction, so
// that no event can occur between the check and the write.
void Transition::attach_expiry(Run run, Decided event) {
  Advance late = advance(graph_, std::move(run), expiry_of(std::move(event)));
  for (Action& action : late.actions) {
    auto* write = std::get_if<WriteCommit>(&action);
    if (!write) continue;
    work_.commit->if_expired = std::move(write->commit->rows);
    work_.if_expired = std::make_unique<Run>(std::move(late.run));
    return;
  }
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
