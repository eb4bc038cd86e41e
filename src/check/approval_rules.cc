// I5 and P7: what people were asked, what they decided, and what came of it.

#include <algorithm>
#include <set>

#include "check/replay.h"
#include "check/rules.h"
#include "engine/advance.h"

namespace belay::check {
namespace {

using Verdict = engine::Decided::Verdict;

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

const ApprovalRow* approval_with(const RunContents& run, const InterruptId& interrupt) {
  for (const ApprovalRow& each : run.approvals) {
    if (each.interrupt == interrupt) return &each;
  }
  return nullptr;
}

bool is_decided(const ApprovalRow& approval) {
  return approval.status == ApprovalStatus::approved || approval.status == ApprovalStatus::rejected;
}

bool text_has_hash(const std::string& envelope, const Digest& hash) {
  auto text = json_in_envelope(envelope);
  return text.ok() && sha256(*text) == hash;
}

// The row by itself.
void check_approval_row(const RunContents& run, const ApprovalRow& approval, Findings& findings) {
  const RunRow& row = run.row;
  if (approval.thread != row.thread || approval.user != row.user || approval.graph != row.graph) {
    findings.add(approval, "it is of another thread, user or graph than its run.");
  }
  if (!text_has_hash(approval.payload, approval.payload_hash)) {
    findings.add(approval, "what was shown does not fit its hash.");
  }
  if (approval.edited.empty() != (approval.edited_hash == Digest{}) ||
      (!approval.edited.empty() && !text_has_hash(approval.edited, approval.edited_hash))) {
    findings.add(approval, "the edited payload does not fit its hash.");
  }
  if (!approval.edited.empty() && approval.status != ApprovalStatus::approved) {
    findings.add(approval, "it has an edited payload without having been approved.");
  }
  if (is_decided(approval) && approval.decided_by.empty()) {
    findings.add(approval, "nobody is named who decided it.");
  }
  if (is_decided(approval) && approval.decided_at >= approval.expires_at) {
    findings.add(approval, "it was decided after its expiry.");
  }
  bool is_untouched =
      approval.status == ApprovalStatus::open || approval.status == ApprovalStatus::closed;
  if (is_untouched && (!approval.decided_by.empty() || approval.decided_at != Instant())) {
    findings.add(approval,
                 "it is " + std::string(name_of(approval.status)) + ", but names who decided it.");
  }
}

// The payload and the permitted roles are those of the run's state and graph. `replay` stands at
// the commit that asked.
void check_what_was_asked(const RunContents& run, const Replay& replay, const ApprovalRow& approval,
                          Findings& findings) {
  const GraphDefinition::Node* node = run.graph ? run.graph->find(approval.node) : nullptr;
  if (!node || !node->approval) return;
  std::string roles;
  for (const std::string& role : node->approval->options.roles) {
    if (!roles.empty()) roles += ',';
    roles += role;
  }
  if (approval.roles != roles) {
    findings.add(approval, "it may be decided by " + quoted(approval.roles) + ", where the graph " +
                               "says " + quoted(roles) + ".");
  }
  auto restored = replay.restore();
  if (!restored.ok()) return;  // P9
  Encoder shown;
  run.graph->state->channels[node->approval->channel].encode(restored->state.get(), shown, nullptr);
  if (sha256(shown.text) != approval.payload_hash) {
    findings.add(approval, "what was shown is not what the run's state had.");
  }
}

// The commit that asked for it.
void check_asking(const RunContents& run, const Replay& replay, Findings& findings) {
  const CheckpointRow& checkpoint = replay.checkpoint();
  auto task = replay.next_task();
  if (!task) return;  // P9
  const ApprovalRow* approval = approval_with(run, task->interrupt);
  if (!approval) {
    return findings.add(run, commit_text(checkpoint.seq) +
                                 " asks a person, but there is no such "
                                 "approval.");
  }
  if (approval->seq != checkpoint.seq || approval->node != checkpoint.node ||
      approval->task != engine::task_id(run.row.run, checkpoint.superstep, checkpoint.node)) {
    findings.add(*approval, "it does not say the same as " + commit_text(checkpoint.seq) +
                                ", which asked for it.");
  }
  check_what_was_asked(run, replay, *approval, findings);
}

// The verdict as the event of the decision's commit tells it; empty where it tells none.
std::pair<std::string, std::string> told_verdict(const RunContents& run, std::uint64_t seq) {
  for (const EventRow& event : run.events) {
    if (event.seq != seq || event.index != 0) continue;
    auto body = parse_json(event.body);
    if (!body.ok()) break;
    const std::string* verdict = (*body)["verdict"].as_string();
    const std::string* decided_by = (*body)["decidedBy"].as_string();
    if (verdict && decided_by) return {*verdict, *decided_by};
  }
  return {};
}

CommitKind closing_kind(ApprovalStatus status) {
  if (status == ApprovalStatus::closed) return CommitKind::cancel;
  return status == ApprovalStatus::expired ? CommitKind::expiry : CommitKind::decision;
}

// The commit after the one that asked. A paused run can't do anything else.
void check_closing(const RunContents& run, const CheckpointRow& asking,
                   const CheckpointRow& checkpoint, Findings& findings) {
  auto next = engine::next_task_from(asking.next_tasks);
  if (!next.ok() || !next->task) return;  // P9
  const ApprovalRow* approval = approval_with(run, next->task->interrupt);
  if (!approval) return;  // told at the commit that asked
  bool is_failed_decision =
      checkpoint.kind == CommitKind::failure && approval->status != ApprovalStatus::closed;
  bool fits = approval->status != ApprovalStatus::open &&
              (checkpoint.kind == closing_kind(approval->status) || is_failed_decision);
  if (!fits) {
    return findings.add(*approval, "it is " + std::string(name_of(approval->status)) + ", but " +
                                       commit_text(checkpoint.seq) + " is a " +
                                       std::string(name_of(checkpoint.kind)) + ".");
  }
  auto [verdict, decided_by] = told_verdict(run, checkpoint.seq);
  if (!verdict.empty() &&
      (verdict != name_of(approval->status) || decided_by != approval->decided_by)) {
    findings.add(*approval, "it is " + std::string(name_of(approval->status)) + " by " +
                                quoted(approval->decided_by) + ", but " +
                                commit_text(checkpoint.seq) + " told that it was " + verdict +
                                " by " + quoted(decided_by) + ".");
  }
}

// An approval whose commit does not ask for it would not be looked at otherwise.
void check_is_asked(const RunContents& run, const ApprovalRow& approval, Findings& findings) {
  auto asking = std::find_if(run.checkpoints.begin(), run.checkpoints.end(),
                             [&](const CheckpointRow& each) { return each.seq == approval.seq; });
  auto next = asking == run.checkpoints.end() ? Result<engine::NextTask>(engine::NextTask())
                                              : engine::next_task_from(asking->next_tasks);
  bool is_asked = next.ok() && next->task && next->task->interrupt == approval.interrupt &&
                  asking->kind == CommitKind::pause;
  if (!is_asked) findings.add(approval, "no commit of its run asks for it.");
  bool is_waiting = run.row.status == RunStatus::paused && approval.seq == run.row.seq;
  if ((approval.status == ApprovalStatus::open) != is_waiting) {
    findings.add(approval, "it is " + std::string(name_of(approval.status)) +
                               (is_waiting ? ", but the run waits for it."
                                           : ", but the run does not wait for it."));
  }
}

std::set<std::pair<std::string, std::string>> texts_of(const std::vector<ValueRow>& values,
                                                       std::uint64_t seq) {
  std::set<std::pair<std::string, std::string>> texts;
  for (const ValueRow& value : values) {
    if (value.seq == seq) texts.emplace(value.channel, value.envelope);
  }
  return texts;
}

std::optional<engine::Decided> decision_of(const ApprovalRow& approval, Instant at) {
  if (approval.status == ApprovalStatus::open || approval.status == ApprovalStatus::closed) {
    return std::nullopt;
  }
  engine::Decided decided;
  decided.moment.now = at;
  decided.approval = approval;
  decided.verdict = approval.status == ApprovalStatus::approved   ? Verdict::approved
                    : approval.status == ApprovalStatus::rejected ? Verdict::rejected
                                                                  : Verdict::expired;
  decided.decided_by = approval.decided_by;
  decided.comment = approval.comment;
  if (!approval.edited.empty()) {
    auto text = json_in_envelope(approval.edited);
    auto edited = text.ok() ? parse_json(*text) : Result<Value>(text.error());
    if (!edited.ok()) return std::nullopt;  // I5
    decided.edited = *std::move(edited);
  }
  return decided;
}

// Takes the decision again on the run as it was when it asked, and compares what comes of it.
void check_decided_again(const RunContents& run, engine::Run paused, const CheckpointRow& stored,
                         Findings& findings) {
  if (!paused.task) return;
  const ApprovalRow* approval = approval_with(run, paused.task->interrupt);
  auto decided = approval ? decision_of(*approval, stored.created_at) : std::nullopt;
  if (!decided) return;  // I5
  auto again = engine::advance(*run.graph, std::move(paused), *std::move(decided));
  const auto* write =
      again.actions.empty() ? nullptr : std::get_if<engine::WriteCommit>(&again.actions.front());
  if (!write) return findings.add(run, commit_text(stored.seq) + " can't be decided again.");
  const CheckpointRow& checkpoint = *write->commit.rows.checkpoint;
  bool is_same =
      checkpoint.kind == stored.kind && checkpoint.status == stored.status &&
      checkpoint.next_tasks == stored.next_tasks &&
      texts_of(write->commit.rows.values, stored.seq) == texts_of(run.values, stored.seq);
  if (!is_same) {
    findings.add(run, "the decision of " + commit_text(stored.seq) +
                          ", taken again, leads to another state.");
  }
}

}  // namespace

void i5_approvals(const RunContents& run, const CheckScope&, Findings& findings) {
  for (const ApprovalRow& approval : run.approvals) {
    check_approval_row(run, approval, findings);
    check_is_asked(run, approval, findings);
    if (approval_with(run, approval.interrupt) != &approval) {
      findings.add(approval, "it is there twice.");
    }
  }
  Replay replay(run);
  while (replay.next()) {
    const CheckpointRow* asking = replay.parent();
    if (asking && asking->kind == CommitKind::pause) {
      check_closing(run, *asking, replay.checkpoint(), findings);
    }
    if (replay.checkpoint().kind == CommitKind::pause) check_asking(run, replay, findings);
  }
}

void p7_idempotent_resume(const RunContents& run, const CheckScope&, Findings& findings) {
  if (!run.graph) return;
  std::optional<engine::Run> paused;
  Replay replay(run);
  while (replay.next()) {
    const CheckpointRow& checkpoint = replay.checkpoint();
    if (paused && checkpoint.kind != CommitKind::cancel) {
      check_decided_again(run, *std::move(paused), checkpoint, findings);
    }
    paused.reset();
    if (checkpoint.kind != CommitKind::pause) continue;
    auto restored = replay.restore();
    if (restored.ok()) paused = *std::move(restored);  // otherwise P9
  }
}

}  // namespace belay::check
