// Long on purpose: all of the engine's judgement stands in one place.

#include "engine/advance.h"

#include <algorithm>

#include "belay/limits.h"
#include "engine/checkpoint.h"
#include "engine/next_task.h"
#include "engine/route.h"
#include "graph/question.h"

namespace belay::engine {
namespace {

using Phase = NodeTask::Phase;

// One event's handling. Methods change run_ and actions_; each ends by at most one commit.
class Advancing {
 public:
  Advancing(const GraphDefinition& graph, Run& run) : graph_(graph), run_(run) {}

  std::vector<Action> actions() && { return std::move(actions_); }

  void on(Begun event) {
    run_.working_since = event.moment.now;
    run_.row.created_at = event.moment.now;
    run_.row.updated_at = event.moment.now;
    run_.row.status = RunStatus::running;
    run_.row.epoch = 1;
    Step step;
    step.kind = CommitKind::input;
    auto entry = past_approvals(graph_, run_.options, run_.state.get(), graph_.entry);
    if (!entry.ok()) return fail(entry.error(), event.moment, CommitKind::input, 0);
    go_to(*entry, "");
    commit(std::move(step), event.moment, 0);
  }

  void on(TakenOver event) {
    if (is_final(run_.row.status) || run_.row.status == RunStatus::paused) return rest();
    if (run_.task && run_.task->phase == Phase::running) run_.task->phase = Phase::ready;
    std::uint64_t guard = take_ownership(event.session, event.moment);
    Step step;
    step.kind = CommitKind::claim;
    step.node = run_.row.node;
    commit(std::move(step), event.moment, guard);
  }

  void on(Committed event) {
    if (is_final(run_.row.status) || run_.row.status == RunStatus::paused || !run_.task) {
      return rest();
    }
    if (run_.row.worked_ms >= run_.options.timeout.count()) {
      return on(RunTimedOut{event.moment});
    }
    NodeTask& task = *run_.task;
    const GraphDefinition::Node* node = graph_.find(task.node);
    if (task.phase == Phase::waiting) {
      actions_.emplace_back(WaitForRetry{task.id, task.attempt, task.due});
    } else if (task.phase == Phase::ready && node->approval) {
      ask_for_approval(*node, event.moment);
    } else if (task.phase == Phase::ready) {
      task.phase = Phase::running;
      actions_.emplace_back(StartNode{task.id, node, task.attempt});
    }
  }

  void on(NodeEnded event) {
    if (!is_current(event.task, event.attempt)) return;
    const GraphDefinition::Node& node = *graph_.find(run_.task->node);
    Step step;
    step.node = node.name;
    step.records = std::move(event.effects.records);
    step.events = std::move(event.effects.events);
    if (event.attempt != 1) step.detail = Value::object({{"attempt", event.attempt}});
    if (!event.changes.empty()) {
      void* state = owned_state(graph_, run_);
      for (const Change& change : event.changes) {
        change.apply(state);
        step.changed.push_back(change.channel);
      }
    }
    auto target = chosen_target(node, run_.state.get());
    if (target.ok()) {
      target = past_approvals(graph_, run_.options, run_.state.get(), *std::move(target));
    }
    if (!target.ok()) return fail(target.error(), event.moment, CommitKind::failure, 1);
    go_to(*target, std::move(event.effects.outcome));
    commit(std::move(step), event.moment, run_.row.epoch);
  }

  void on(NodeFailed event) {
    if (!is_current(event.task, event.attempt)) return;
    const GraphDefinition::Node& node = *graph_.find(run_.task->node);
    int allowed = node.retry.attempts;
    if (allowed > 1 && run_.options.max_retries) allowed = std::max(1, *run_.options.max_retries);
    if (event.error.code != ErrorCode::unavailable || event.attempt >= allowed) {
      return fail(std::move(event.error), event.moment, CommitKind::failure, 1);
    }
    NodeTask& task = *run_.task;
    ++run_.row.retry_count;
    task.phase = Phase::waiting;
    task.attempt = event.attempt + 1;
    task.due = event.moment.now + wait_after(node.retry, event);
    Step step;
    step.kind = CommitKind::attempt;
    step.node = node.name;
    step.detail = Value::object(
        {{"attempt", event.attempt}, {"error", event.error.message}, {"due", to_text(task.due)}});
    task.previous_error = std::move(event.error);
    commit(std::move(step), event.moment, run_.row.epoch);
  }

  void on(NodeAsked event) {
    if (!is_current(event.task, event.attempt)) return;
    std::string payload = to_json(event.question.payload);
    ApprovalRow approval = approval_row(event.moment, payload, event.question.expires);
    run_.task->question = question_key(event.question.name, payload);
    approval.interrupt = InterruptId(derived_uuid(run_.task->id.text() + run_.task->question));
    approval.question = std::move(event.question.text);
    pause(std::move(approval), {}, event.moment);
  }

  void on(RetryDue event) {
    if (!run_.task || run_.task->id != event.task || run_.task->attempt != event.attempt ||
        run_.task->phase != Phase::waiting) {
      return;
    }
    run_.task->phase = Phase::running;
    actions_.emplace_back(StartNode{event.task, graph_.find(run_.task->node), event.attempt});
  }

  void on(RunTimedOut event) {
    if (is_final(run_.row.status) || run_.row.status == RunStatus::paused) return;
    fail(error(ErrorCode::exhausted, "The run worked for longer than its " +
                                         std::to_string(run_.options.timeout.count()) +
                                         " ms; give it more time or less work."),
         event.moment, CommitKind::failure, 0);
  }

  void on(Decided event) {
    if (run_.row.status != RunStatus::paused || !run_.task || run_.task->phase != Phase::asking ||
        run_.task->interrupt != event.approval.interrupt) {
      return;
    }
    const GraphDefinition::Node& node = *graph_.find(run_.task->node);
    bool approved = event.verdict == Decided::Verdict::approved;
    Step step;
    step.kind =
        event.verdict == Decided::Verdict::expired ? CommitKind::expiry : CommitKind::decision;
    step.node = node.name;
    step.detail =
        Value::object({{"verdict", verdict_name(event.verdict)}, {"decidedBy", event.decided_by}});
    run_.row.reason.clear();
    run_.row.status = RunStatus::running;
    std::uint64_t guard = take_ownership(event.session, event.moment);
    Result<Done> answered = Done{};
    if (node.approval) {
      answered = answer_approval(node, event, approved, step);
    } else {
      answer_question(event, approved);
    }
    Moment moment = event.moment;
    ApprovalRow decided = decided_row(std::move(event));
    if (answered.ok()) {
      commit(std::move(step), moment, guard);
    } else {
      fail(answered.error(), moment, CommitKind::failure, 0, guard);
    }
    attach_decision(std::move(decided));
  }

  void on(Cancelled event) {
    if (is_final(run_.row.status)) return;
    std::uint64_t guard = run_.row.epoch++;
    run_.row.status = RunStatus::cancelled;
    run_.row.reason.clear();
    run_.row.session = SessionId();
    Step step;
    step.kind = CommitKind::cancel;
    step.node = run_.row.node;
    step.detail = Value::object({{"by", event.by}});
    run_.task.reset();
    clear_awaiting(step);
    commit(std::move(step), event.moment, guard);
    for (Action& action : actions_) {
      if (auto* write = std::get_if<WriteCommit>(&action))
        write->commit.rows.close_approvals = true;
    }
  }

 private:
  void rest() { actions_.emplace_back(Rest{}); }

  bool is_current(const TaskId& task, int attempt) const {
    return run_.task && run_.task->id == task && run_.task->attempt == attempt &&
           run_.task->phase == Phase::running && run_.row.status == RunStatus::running;
  }

  // Returns the epoch before.
  std::uint64_t take_ownership(const SessionId& session, const Moment& moment) {
    run_.working_since = moment.now;
    run_.row.session = session;
    run_.row.status = RunStatus::running;
    return run_.row.epoch++;
  }

  // The next task is the visit of `target`, or there is none and the run has completed.
  void go_to(const std::string& target, std::string outcome) {
    ++run_.superstep;
    run_.row.node = target;
    if (!outcome.empty()) run_.row.outcome = std::move(outcome);
    if (target != end) {
      run_.task.emplace();
      run_.task->node = target;
      run_.task->id = task_id(run_.row.run, run_.superstep, target);
      return;
    }
    run_.task.reset();
    run_.row.status = RunStatus::completed;
    run_.row.session = SessionId();
    if (run_.row.outcome.empty()) run_.row.outcome = "done";
  }

  void commit(Step step, const Moment& moment, std::uint64_t guard_epoch) {
    std::string node = step.node;
    if (run_.superstep > static_cast<std::int64_t>(limits::supersteps_max) && run_.task) {
      return fail(error(ErrorCode::exhausted, "The run took more than " +
                                                  std::to_string(limits::supersteps_max) +
                                                  " steps; look for a cycle that never ends."),
                  moment, CommitKind::failure, 0, guard_epoch);
    }
    bool first = run_.row.seq == 0;
    auto ended = end_step(graph_, run_, std::move(step), moment, guard_epoch);
    if (!ended.ok()) {
      run_.task.reset();
      run_.row.node = node;
      return fail(ended.error(), moment, CommitKind::failure, 0, guard_epoch);
    }
    if (first) ended->rows.thread = thread_row();
    actions_.emplace_back(std::in_place_type<WriteCommit>, *std::move(ended));
  }

  ThreadRow thread_row() const {
    ThreadRow row;
    row.tenant = run_.row.tenant;
    row.thread = run_.row.thread;
    row.user = run_.row.user;
    row.graph = run_.row.graph;
    row.last_run = run_.row.run;
    row.created_at = run_.row.created_at;
    return row;
  }

  // Ends the run as failed. Nothing of the failed step is saved: a failure writes no channel but
  // the flag of an approval that no longer waits.
  void fail(Error why, const Moment& moment, CommitKind kind, int failed_attempts,
            std::optional<std::uint64_t> guard_epoch = std::nullopt) {
    run_.row.status = RunStatus::failed;
    run_.row.session = SessionId();
    run_.row.reason.clear();
    run_.row.outcome.clear();
    run_.row.error_code = name_of(why.code);
    run_.row.error = why.message;
    run_.row.retry_count += failed_attempts;
    Step step;
    step.kind = kind;
    step.node = run_.task ? run_.task->node : run_.row.node;
    run_.row.node = step.node;
    step.detail = Value::object({{"error", why.message}, {"code", name_of(why.code)}});
    run_.task.reset();
    bool first = run_.row.seq == 0;
    std::uint64_t guard = guard_epoch.value_or(first ? 0 : run_.row.epoch);
    auto ended = end_step(graph_, run_, std::move(step), moment, guard);
    BELAY_ASSERT(ended.ok());
    if (first) ended->rows.thread = thread_row();
    actions_.emplace_back(std::in_place_type<WriteCommit>, *std::move(ended));
  }

  // min(2^n * base, cap) after the n-th failure, +-20 %, and at least what the other side asked.
  static std::chrono::microseconds wait_after(const RetryPolicy& policy, const NodeFailed& event) {
    std::int64_t factor = std::int64_t{1} << std::min(event.attempt, 30);
    std::int64_t base = std::max<std::int64_t>(policy.base.count(), 0);
    std::int64_t wait = base > policy.cap.count() / factor ? policy.cap.count() : base * factor;
    std::int64_t permille = 800 + static_cast<std::int64_t>(event.moment.entropy % 401);
    std::chrono::microseconds jittered(wait * permille);
    if (!event.error.retry_after) return jittered;
    return std::max<std::chrono::microseconds>(jittered, *event.error.retry_after);
  }

  ApprovalRow approval_row(const Moment& moment, const std::string& payload,
                           milliseconds expires) const {
    ApprovalRow row;
    row.tenant = run_.row.tenant;
    row.thread = run_.row.thread;
    row.run = run_.row.run;
    row.task = run_.task->id;
    row.user = run_.row.user;
    row.graph = run_.row.graph;
    row.node = run_.task->node;
    row.payload = json_envelope(payload);
    row.payload_hash = sha256(payload);
    row.seq = run_.row.seq + 1;
    row.created_at = std::max(moment.now, run_.row.updated_at);
    row.expires_at = row.created_at + run_.options.approval_expires.value_or(expires);
    return row;
  }

  void ask_for_approval(const GraphDefinition::Node& node, const Moment& moment) {
    const GraphDefinition::Approval& asked = *node.approval;
    Encoder payload;
    const void* state = run_.state.get();
    graph_.state->channels[asked.channel].encode(state, payload, nullptr);
    ApprovalRow approval = approval_row(moment, payload.text, asked.options.expires);
    approval.interrupt = InterruptId(derived_uuid(run_.task->id.text() + "approval"));
    try {
      approval.question = asked.question ? asked.question(state) : asked.options.question;
    } catch (const std::exception& exception) {
      return fail(error(ErrorCode::invalid,
                        "The question of \"" + node.name + "\" threw: " + exception.what()),
                  moment, CommitKind::failure, 0);
    } catch (...) {
      return fail(error(ErrorCode::invalid, "The question of \"" + node.name + "\" threw."), moment,
                  CommitKind::failure, 0);
    }
    for (const std::string& role : asked.options.roles) {
      if (!approval.roles.empty()) approval.roles += ',';
      approval.roles += role;
    }
    std::vector<std::size_t> changed;
    if (asked.awaiting) {
      asked.set_awaiting(owned_state(graph_, run_), true);
      changed.push_back(*asked.awaiting);
    }
    pause(std::move(approval), std::move(changed), moment);
  }

  void pause(ApprovalRow approval, std::vector<std::size_t> changed, const Moment& moment) {
    run_.task->phase = Phase::asking;
    run_.task->interrupt = approval.interrupt;
    run_.row.status = RunStatus::paused;
    run_.row.reason = "approval";
    run_.row.session = SessionId();
    Step step;
    step.kind = CommitKind::pause;
    step.node = run_.task->node;
    step.changed = std::move(changed);
    step.detail = Value::object(
        {{"interrupt", approval.interrupt.text()}, {"expiresAt", to_text(approval.expires_at)}});
    commit(std::move(step), moment, run_.row.epoch);
    if (auto* write = std::get_if<WriteCommit>(&actions_.back());
        write && run_.row.status == RunStatus::paused) {
      write->commit.rows.opened.push_back(std::move(approval));
    }
  }

  // The approval node's answer: the edited payload and the flags go into the state, and the run
  // goes on.
  Result<Done> answer_approval(const GraphDefinition::Node& node, const Decided& event,
                               bool approved, Step& step) {
    const GraphDefinition::Approval& asked = *node.approval;
    void* state = owned_state(graph_, run_);
    if (approved && event.edited) {
      Decoder in;
      if (!graph_.state->channels[asked.channel].decode(*event.edited, state, in, nullptr)) {
        return error(ErrorCode::invalid, "The edited payload does not fit: " + in.problem);
      }
      step.changed.push_back(asked.channel);
    }
    if (asked.awaiting) {
      asked.set_awaiting(state, false);
      step.changed.push_back(*asked.awaiting);
    }
    if (asked.answer) {
      asked.set_answer(state, approved);
      step.changed.push_back(*asked.answer);
    }
    BELAY_TRY(std::string target, past_approvals(graph_, run_.options, state,
                                                 approved ? asked.approved : asked.rejected));
    go_to(target, target == end ? std::string(verdict_name(event.verdict)) : std::string());
    return Done{};
  }

  void answer_question(const Decided& event, bool approved) {
    NodeTask& task = *run_.task;
    Answer answer;
    answer.approved = approved;
    answer.decided_by = event.decided_by;
    answer.comment = event.comment;
    if (event.edited) {
      answer.payload = *event.edited;
    } else if (auto shown = json_in_envelope(event.approval.payload); shown.ok()) {
      answer.payload = parse_json(*shown).value_or(Value());
    }
    task.answers.emplace_back(std::move(task.question), std::move(answer));
    task.question.clear();
    task.interrupt = InterruptId();
    task.phase = Phase::ready;
  }

  // A cancelled run awaits nothing: the flags of its approvals go down.
  void clear_awaiting(Step& step) {
    for (const GraphDefinition::Node& node : graph_.nodes) {
      if (!node.approval || !node.approval->awaiting || node.name != run_.row.node) continue;
      node.approval->set_awaiting(owned_state(graph_, run_), false);
      step.changed.push_back(*node.approval->awaiting);
    }
  }

  static std::string_view verdict_name(Decided::Verdict verdict) {
    switch (verdict) {
      case Decided::Verdict::approved:
        return "approved";
      case Decided::Verdict::rejected:
        return "rejected";
      case Decided::Verdict::expired:
        return "expired";
    }
    return "expired";
  }

  static ApprovalRow decided_row(Decided&& event) {
    ApprovalRow row = std::move(event.approval);
    row.status = event.verdict == Decided::Verdict::approved   ? ApprovalStatus::approved
                 : event.verdict == Decided::Verdict::rejected ? ApprovalStatus::rejected
                                                               : ApprovalStatus::expired;
    row.decided_by = std::move(event.decided_by);
    row.comment = std::move(event.comment);
    row.decided_at = event.moment.now;
    if (event.edited) {
      std::string edited = to_json(*event.edited);
      row.edited_hash = sha256(edited);
      row.edited = json_envelope(edited);
    }
    return row;
  }

  void attach_decision(ApprovalRow decided) {
    for (Action& action : actions_) {
      auto* write = std::get_if<WriteCommit>(&action);
      if (!write) continue;
      ApprovalGuard guard;
      guard.interrupt = decided.interrupt;
      guard.payload_hash = decided.payload_hash;
      guard.expiry = decided.status == ApprovalStatus::expired ? ApprovalGuard::Expiry::passed
                                                               : ApprovalGuard::Expiry::ahead;
      write->commit.approval = guard;
      write->commit.rows.decided = std::move(decided);
      return;
    }
  }

  const GraphDefinition& graph_;
  Run& run_;
  std::vector<Action> actions_;
};

}  // namespace

Advance advance(const GraphDefinition& graph, Run&& run, Event event) {
  Advancing advancing(graph, run);
  std::visit([&](auto& happened) { advancing.on(std::move(happened)); }, event);
  return {std::move(run), std::move(advancing).actions()};
}

}  // namespace belay::engine
