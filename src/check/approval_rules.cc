// I5 and P7: approvals, the decisions on them, and their effects on the run.
// Long on purpose: two rules that read the same decisions.

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/in_quotes.h"
#include "check/replay.h"
#include "check/rules.h"
#include "engine/advance.h"
#include "engine/decision.h"
#include "engine/next_task.h"

namespace belay::check {
namespace {

using Verdict = engine::Decided::Verdict;

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

// Checks the choice, the edited payload and the votes of a decision against the terms.
void check_reply(const ApprovalRow& approval, Findings& findings) {
  auto terms = terms_of(approval);
  auto reply = reply_of(approval);
  if (!terms.ok()) return findings.add(approval, "its terms cannot be read.");
  if (!reply.ok()) return findings.add(approval, "its decision cannot be read.");
  if (reply->edited && approval.status != ApprovalStatus::approved) {
    findings.add(approval, "it has an edited payload without having been approved.");
  }
  std::string choice = choice_of(approval);
  const ApprovalChoice* chosen = terms->find(choice);
  bool approves = approval.status == ApprovalStatus::approved;
  if (is_decided(approval) && (!chosen || chosen->approves != approves)) {
    findings.add(approval, "its choice " + in_quotes(choice) + " is not one that it offers.");
  }
  std::set<std::string> voters;
  auto enter = [&](const std::string& name) {
    if (!voters.insert(name).second) findings.add(approval, in_quotes(name) + " has voted twice.");
  };
  std::int64_t same = 0;
  for (const ApprovalVote& vote : reply->votes) {
    if (vote.choice == choice) ++same;
    enter(vote.decided_by);
    bool is_for_another = !vote.on_behalf_of.empty() && vote.on_behalf_of != vote.decided_by;
    if (is_for_another) enter(vote.on_behalf_of);
  }
  if (approves && terms->needs > 1 && same != terms->needs) {
    findings.add(approval, "it needs " + std::to_string(terms->needs) + " decisions, but has " +
                               std::to_string(same) + ".");
  }
}

// Checks the row without the commits.
void check_approval_row(const RunContents& run, const ApprovalRow& approval, Findings& findings) {
  const RunRow& row = run.row;
  if (approval.thread != row.thread || approval.user != row.user || approval.graph != row.graph) {
    findings.add(approval, "it is of another thread, user or graph than its run.");
  }
  if (!text_has_hash(approval.payload, approval.payload_hash)) {
    findings.add(approval, "its payload does not match its hash.");
  }
  if (approval.edited.empty() != (approval.edited_hash == Digest{}) ||
      (!approval.edited.empty() && !text_has_hash(approval.edited, approval.edited_hash))) {
    findings.add(approval, "the edited payload does not match its hash.");
  }
  check_reply(approval, findings);
  if (is_decided(approval) && approval.decided_by.empty()) {
    findings.add(approval, "it has no decider.");
  }
  if (is_decided(approval) && approval.decided_at >= approval.expires_at) {
    findings.add(approval, "it was decided after its expiry.");
  }
  bool is_untouched =
      approval.status == ApprovalStatus::open || approval.status == ApprovalStatus::closed;
  // The votes of an approval that needs several decisions have a time.
  bool has_time = approval.decided_at != Instant() && approval.edited.empty();
  if (is_untouched && (!approval.decided_by.empty() || has_time)) {
    findings.add(approval,
                 "it is " + std::string(name_of(approval.status)) + ", but has a decider.");
  }
}

// Checks that payload and permitted roles are those of the run's state and graph. `replay` is at
// the commit that scheduled the task: the state does not change until the task has ended.
void check_what_was_asked(const Replay& replay, const ApprovalRow& approval, Findings& findings) {
  const GraphDefinition* graph = replay.graph();
  const GraphDefinition::Node* node = graph ? graph->find(approval.node) : nullptr;
  if (!node || !node->approval) return;
  std::string roles;
  for (const std::string& role : node->approval->options.roles) {
    if (!roles.empty()) roles += ',';
    roles += role;
  }
  if (approval.roles != roles) {
    findings.add(approval, "its roles are " + in_quotes(approval.roles) + ", but the graph " +
                               "has " + in_quotes(roles) + ".");
  }
  if (approval.interrupt != InterruptId(derived_uuid(approval.task.text() + "approval"))) {
    findings.add(approval, "its id is not that of its task.");
  }
  auto restored = replay.restore();
  if (!restored.ok()) return;  // P9
  Encoder shown;
  graph->state->channels[node->approval->channel].encode(restored->state.get(), shown, nullptr);
  if (sha256(shown.text) != approval.payload_hash) {
    findings.add(approval, "its payload does not match the state of the run.");
  }
}

// Returns the interrupt of a task from a stored value of it; nullopt without one.
std::optional<InterruptId> interrupt_in(const Value& parts) {
  const std::string* text = parts["interrupt"].as_string();
  auto id = text ? uuid_from(*text) : std::nullopt;
  return id ? std::optional(InterruptId(*id)) : std::nullopt;
}

// Returns the interrupt for which a task of the namespace's newest superstep waits now.
std::optional<InterruptId> asks_now(const SpaceContents& checkpoint_ns, const Replay& newest,
                                    std::size_t position) {
  const engine::NodeTask& task = newest.tasks()->tasks[position];
  if (const TaskRow* row = task_row(checkpoint_ns, newest.tasks()->superstep, position)) {
    if (row->status != TaskStatus::asking) return std::nullopt;
    return interrupt_in(parts_of(*row));
  }
  if (task.phase != engine::NodeTask::Phase::interrupted) return std::nullopt;
  return task.interrupt;
}

// Returns all interrupts for which the run waits now.
std::set<InterruptId> waited_for(const RunContents& run) {
  std::set<InterruptId> waited;
  if (is_final(run.row.status)) return waited;
  for (const SpaceContents* checkpoint_ns : spaces_of(run)) {
    if (checkpoint_ns->checkpoints.empty() || is_final(checkpoint_ns->checkpoints.back().status))
      continue;
    Replay replay(run, *checkpoint_ns);
    while (replay.next()) continue;
    if (!replay.tasks()) continue;  // P9
    for (std::size_t i = 0; i < replay.tasks()->tasks.size(); ++i) {
      if (auto interrupt = asks_now(*checkpoint_ns, replay, i)) waited.insert(*interrupt);
    }
  }
  return waited;
}

// Checks that each commit and each stored task with an interrupt has its approval.
void check_asking(const RunContents& run, const Replay& replay, Findings& findings) {
  const CheckpointRow& checkpoint = replay.checkpoint();
  if (!replay.tasks()) return;  // P9
  for (std::size_t i = 0; i < replay.tasks()->tasks.size(); ++i) {
    const engine::NodeTask& task = replay.tasks()->tasks[i];
    if (task.phase != engine::NodeTask::Phase::interrupted) continue;
    const ApprovalRow* approval = approval_with(run, task.interrupt);
    if (!approval) {
      findings.add(run, commit_text(checkpoint) + " waits for an approval that does not exist.");
      continue;
    }
    bool alone = checkpoint.checkpoint_ns.empty() && replay.tasks()->tasks.size() == 1;
    bool is_commit =
        !alone || checkpoint.kind != CommitKind::pause || approval->seq == checkpoint.seq;
    if (!is_commit || approval->node != replay.tasks()->nodes[i] ||
        approval->task != replay.task_id(i)) {
      findings.add(*approval,
                   "it does not match " + commit_text(checkpoint) + ", which asked for it.");
    }
  }
}

void check_asking_tasks(const RunContents& run, const SpaceContents& checkpoint_ns,
                        Findings& findings) {
  for (const TaskRow& row : checkpoint_ns.tasks) {
    if (row.status != TaskStatus::asking) continue;
    auto interrupt = interrupt_in(parts_of(row));
    const ApprovalRow* approval = interrupt ? approval_with(run, *interrupt) : nullptr;
    if (!approval) {
      findings.add(run, "task " + std::to_string(row.position) + " of superstep " +
                            std::to_string(row.superstep) +
                            " waits for an approval that does not exist.");
    } else if (approval->task != row.task) {
      findings.add(*approval, "it is not of the task that asks for it.");
    }
  }
}

// The decision that the event of its commit contains; empty if it contains none.
struct Told {
  std::string verdict;
  std::string decided_by;
  std::string on_behalf_of;
};
Told told_decision(const RunContents& run, std::uint64_t seq) {
  for (const EventRow& event : run.events) {
    if (event.seq != seq || event.index != 0) continue;
    auto body = parse_json(event.body, limits::document_depth_max);
    if (!body.ok()) break;
    const std::string* verdict = (*body)["verdict"].as_string();
    const std::string* decided_by = (*body)["decidedBy"].as_string();
    const std::string* on_behalf_of = (*body)["onBehalfOf"].as_string();
    if (verdict && decided_by) {
      return {*verdict, *decided_by, on_behalf_of ? *on_behalf_of : std::string()};
    }
  }
  return {};
}

CommitKind closing_kind(ApprovalStatus status) {
  if (status == ApprovalStatus::closed) return CommitKind::cancel;
  return status == ApprovalStatus::expired ? CommitKind::expiry : CommitKind::decision;
}

bool is_told_as(const ApprovalRow& approval, const Told& told) {
  return told.verdict == name_of(approval.status) && told.decided_by == approval.decided_by &&
         told.on_behalf_of == approval.on_behalf_of;
}

// Checks the commit after a commit that opened an approval, if nothing else is in progress: the run
// can only continue by the end of this approval.
void check_closing(const RunContents& run, const Replay& replay, const InterruptId& interrupt,
                   Findings& findings) {
  const CheckpointRow& checkpoint = replay.checkpoint();
  const ApprovalRow* approval = approval_with(run, interrupt);
  if (!approval) return;  // reported at the commit that opened it
  bool is_failed_decision =
      checkpoint.kind == CommitKind::failure && approval->status != ApprovalStatus::closed;
  bool fits = approval->status != ApprovalStatus::open &&
              (checkpoint.kind == closing_kind(approval->status) || is_failed_decision);
  if (!fits) {
    return findings.add(*approval, "it is " + std::string(name_of(approval->status)) + ", but " +
                                       commit_text(checkpoint.seq) + " is a " +
                                       std::string(name_of(checkpoint.kind)) + ".");
  }
  Told told = told_decision(run, checkpoint.seq);
  if (!told.verdict.empty() && !is_told_as(*approval, told)) {
    findings.add(*approval, "it is " + std::string(name_of(approval->status)) + " by " +
                                in_quotes(approval->decided_by) + ", but " +
                                commit_text(checkpoint.seq) + " recorded that it was " +
                                told.verdict + " by " + in_quotes(told.decided_by) + ".");
  }
}

// Checks that a commit whose event contains a decision has a decided approval.
void check_told(const RunContents& run, const CheckpointRow& checkpoint, Findings& findings) {
  Told told = told_decision(run, checkpoint.seq);
  if (told.verdict.empty()) return;
  bool is_there = std::any_of(run.approvals.begin(), run.approvals.end(),
                              [&](const ApprovalRow& each) { return is_told_as(each, told); });
  if (!is_there) {
    findings.add(run, commit_text(checkpoint.seq) + " records that an approval was " +
                          told.verdict + " by " + in_quotes(told.decided_by) +
                          ", but no such approval exists.");
  }
}

// Whether the task has requested the approval. One of several tasks can have ended since.
bool is_asked(const RunContents& run, const ApprovalRow& approval, const ChosenTask& task) {
  if (task.node != approval.node) return false;
  if (task.is_one_of_several && task_row(*task.checkpoint_ns, task.superstep, task.position))
    return true;
  Replay replay(run, *task.checkpoint_ns);
  while (replay.next()) {
    if (replay.checkpoint().superstep != task.superstep || !replay.tasks()) continue;
    if (replay.tasks()->superstep != task.superstep) continue;
    if (task.position >= replay.tasks()->tasks.size()) continue;
    if (replay.tasks()->tasks[task.position].interrupt == approval.interrupt) return true;
    // The last of several tasks to end has no row, only the commit.
  }
  return false;
}

// Reports approvals that no task has requested; other checks start from the tasks.
void check_is_asked(const RunContents& run, const ApprovalRow& approval, const ChosenTasks& chosen,
                    const std::set<InterruptId>& waited, Findings& findings) {
  bool is_pruned = !run.checkpoints.empty() && run.checkpoints.front().seq > 1;
  auto task = chosen.find(approval.task);
  bool asked = task != chosen.end() && is_asked(run, approval, task->second);
  // With Durability::exit, its superstep can have ended without a commit.
  bool may_be_unknown = is_pruned || commits_at_the_end(run);
  if (!asked && !may_be_unknown) findings.add(approval, "no task of its run waits for it.");
  bool is_waiting = waited.contains(approval.interrupt);
  bool is_open = approval.status == ApprovalStatus::open;
  // A decision on a running or queued run is stored before its owner applies it.
  bool is_held = run.row.status == RunStatus::running || run.row.status == RunStatus::queued;
  if (is_open == is_waiting || (is_waiting && is_held)) return;
  findings.add(approval, "it is " + std::string(name_of(approval.status)) +
                             (is_waiting ? ", but the run waits for it."
                                         : ", but the run does not wait for it."));
}

std::set<std::pair<std::string, std::string>> texts_of(const std::vector<ValueRow>& values,
                                                       std::uint64_t seq) {
  std::set<std::pair<std::string, std::string>> texts;
  for (const ValueRow& value : values) {
    if (value.seq == seq) texts.emplace(value.channel, value.envelope);
  }
  return texts;
}

// Returns nullopt without a decision, or if it cannot be read (I5).
std::optional<engine::Decided> decision_of(const ApprovalRow& approval, Instant at) {
  if (!engine::is_decided(approval.status) || !engine::check_shown(approval).ok()) {
    return std::nullopt;
  }
  auto decided = engine::stored_decision(approval, engine::Moment{at, 0}, SessionId());
  if (!decided.ok()) return std::nullopt;
  // Applied again, it must produce its commit again.
  decided->is_stored = false;
  return *std::move(decided);
}

// The materials of the program that checks can differ from those of the program that decided.
bool has_same_tasks(const Digest& version, const CheckpointRow& repeated,
                    const CheckpointRow& recorded) {
  std::string again = engine::without_materials(repeated.next_tasks, version);
  std::string stored = engine::without_materials(recorded.next_tasks, version);
  if (again == stored) return true;
  bool is_older = stored.find("\"decisions\"") == stored.npos;
  return is_older && engine::without_decisions(again) == engine::without_decisions(stored);
}

// Applies the decision again to the run as of its request, and compares the resulting commit.
void check_decided_again(const RunContents& run, engine::Run paused, const CheckpointRow& stored,
                         Findings& findings) {
  const ApprovalRow* approval = approval_with(run, paused.tasks.front().interrupt);
  auto decided = approval ? decision_of(*approval, stored.created_at) : std::nullopt;
  if (!decided) return;  // I5
  decided->to_queue = stored.status == RunStatus::queued;
  auto again = engine::advance(*run.graph, std::move(paused), *std::move(decided));
  const auto* write =
      again.actions.empty() ? nullptr : std::get_if<engine::WriteCommit>(&again.actions.front());
  if (!write) return findings.add(run, commit_text(stored.seq) + " cannot be decided again.");
  const CheckpointRow& checkpoint = *write->commit->rows.checkpoint;
  bool is_same = checkpoint.kind == stored.kind && checkpoint.status == stored.status &&
                 has_same_tasks(run.row.graph_hash, checkpoint, stored) &&
                 texts_of(write->commit->rows.values, value_seq(run.row, stored.seq)) ==
                     texts_of(run.values, stored.seq);
  if (!is_same) {
    findings.add(run, "the decision of " + commit_text(stored.seq) +
                          ", applied again, results in another state.");
  }
}

// Returns the value that a task wrote to a channel; nullopt if it wrote none.
std::optional<Value> written_by(const SpaceContents& checkpoint_ns, const std::string& channel,
                                std::uint64_t seq, std::size_t position) {
  for (const ValueRow& row : checkpoint_ns.values) {
    if (row.seq != seq || row.channel != channel) continue;
    if (row.index != static_cast<std::int64_t>(position)) continue;
    auto text = json_in_envelope(row.envelope);
    auto value = text.ok() ? parse_json(*text) : Result<Value>(text.error());
    if (value.ok()) return *std::move(value);
  }
  return std::nullopt;
}

// Checks the channel writes of a decision on one of several tasks or in a subgraph: exactly those
// that the decision determines.
void check_what_it_did(const RunContents& run, const ApprovalRow& approval, const ChosenTask& task,
                       const GraphDefinition& graph, Findings& findings) {
  const GraphDefinition::Node* node = graph.find(task.node);
  auto decided = decision_of(approval, approval.decided_at);
  if (!node || !node->approval || !decided) return;
  const SpaceContents& checkpoint_ns = *task.checkpoint_ns;
  const TaskRow* row = task_row(checkpoint_ns, task.superstep, task.position);
  std::string choice = engine::recorded_choice(approval);
  auto terms = terms_of(approval);
  const ApprovalChoice* chosen = terms.ok() ? terms->find(choice) : nullptr;
  bool approved = chosen && chosen->approves;
  std::uint64_t seq = checkpoint_ns.checkpoints[task.checkpoint].state_seq + 1;
  bool has_ended = row && row->status == TaskStatus::done;
  for (const CheckpointRow& each : checkpoint_ns.checkpoints) {
    if (each.superstep == task.superstep && each.state_seq >= seq) seq = each.state_seq + 1;
    if (each.superstep > task.superstep) has_ended = true;
  }
  if (!has_ended) return;
  const auto& channels = graph.state->channels;
  auto wrote = [&](std::size_t channel) {
    return written_by(checkpoint_ns, channels[channel].name, seq, task.position);
  };
  bool says_so = true;
  if (node->approval->decision_flag)
    says_so = wrote(*node->approval->decision_flag) == Value(approved);
  if (decided->edited) says_so = says_so && wrote(node->approval->channel) == *decided->edited;
  if (row && row->status == TaskStatus::done) {
    std::string to = target_of(*node->approval, choice);
    says_so = says_so && parts_of(*row)["goTo"] == Value(Value::Array{Value(to)});
  }
  if (!says_so) {
    findings.add(run, "the decision of " + in_quotes(task.node) + " in superstep " +
                          std::to_string(task.superstep) +
                          ", applied again, results in another state.");
  }
}

void check_asked_in(const RunContents& run, const SpaceContents& checkpoint_ns,
                    const ChosenTasks& chosen, Findings& findings) {
  std::multimap<std::size_t, const ApprovalRow*> asked;  // by the commit that scheduled the task
  for (const ApprovalRow& approval : run.approvals) {
    auto task = chosen.find(approval.task);
    if (task == chosen.end() || task->second.checkpoint_ns != &checkpoint_ns) continue;
    asked.emplace(task->second.checkpoint, &approval);
  }
  std::optional<InterruptId> alone;
  Replay replay(run, checkpoint_ns);
  while (replay.next()) {
    auto [first, last] = asked.equal_range(replay.index());
    for (auto each = first; each != last; ++each) {
      check_what_was_asked(replay, *each->second, findings);
    }
    check_asking(run, replay, findings);
    if (!checkpoint_ns.checkpoint_ns.empty()) continue;
    // After a consent, the run still waits.
    bool is_kept = alone && replay.checkpoint().kind == CommitKind::consent;
    if (alone && !is_kept) check_closing(run, replay, *alone, findings);
    check_told(run, replay.checkpoint(), findings);
    if (is_kept) continue;
    alone.reset();
    if (replay.checkpoint().kind != CommitKind::pause || !replay.tasks()) continue;
    if (replay.tasks()->tasks.size() != 1) continue;
    const engine::NodeTask& task = replay.tasks()->tasks.front();
    if (task.phase == engine::NodeTask::Phase::interrupted) alone = task.interrupt;
  }
}

}  // namespace

void i5_approvals(const RunContents& run, const CheckScope&, Findings& findings) {
  ChosenTasks chosen;
  if (!run.approvals.empty()) chosen = chosen_tasks(run);
  std::set<InterruptId> waited = waited_for(run);
  check_fork(run, findings);
  for (const ApprovalRow& approval : run.approvals) {
    check_approval_row(run, approval, findings);
    check_is_asked(run, approval, chosen, waited, findings);
    if (approval_with(run, approval.interrupt) != &approval) {
      findings.add(approval, "it exists twice.");
    }
  }
  for (const SpaceContents* checkpoint_ns : spaces_of(run)) {
    check_asking_tasks(run, *checkpoint_ns, findings);
    check_asked_in(run, *checkpoint_ns, chosen, findings);
  }
}

void p7_idempotent_resume(const RunContents& run, const CheckScope&, Findings& findings) {
  if (!run.graph || run.approvals.empty()) return;
  std::optional<engine::Run> paused;
  Replay replay(run);
  while (replay.next()) {
    const CheckpointRow& checkpoint = replay.checkpoint();
    std::optional<engine::Run> before = std::exchange(paused, std::nullopt);
    // After a consent, the run still waits.
    bool is_kept = before && checkpoint.kind == CommitKind::consent;
    if (before && !is_kept && checkpoint.kind != CommitKind::cancel) {
      check_decided_again(run, *std::move(before), checkpoint, findings);
    }
    bool waits = is_kept || checkpoint.kind == CommitKind::pause;
    if (!waits || !replay.graph()) continue;
    auto restored = replay.restore();
    if (!restored.ok() || restored->tasks.size() != 1) continue;  // P9
    if (restored->tasks.front().phase != engine::NodeTask::Phase::interrupted) continue;
    paused = *std::move(restored);
  }
  if (commits_at_the_end(run)) return;  // writes of single tasks are not stored separately
  ChosenTasks chosen = chosen_tasks(run);
  for (const ApprovalRow& approval : run.approvals) {
    auto task = chosen.find(approval.task);
    if (task == chosen.end() || !task->second.checkpoint_ns->graph) continue;
    if (!task->second.is_one_of_several && task->second.checkpoint_ns->checkpoint_ns.empty())
      continue;
    check_what_it_did(run, approval, task->second, *task->second.checkpoint_ns->graph, findings);
  }
}

}  // namespace belay::check
