// I4, I15 and I16: effects, pending writes, and messages.

#include <map>
#include <set>

#include "base/in_quotes.h"
#include "belay/detail/expiry_envelope.h"
#include "check/replay.h"
#include "check/rules.h"
#include "engine/expiry_message.h"
#include "graph/call_record.h"

namespace belay::check {
namespace {

bool is_pruned(const RunContents& run) {
  return !run.checkpoints.empty() && run.checkpoints.front().seq > 1;
}

void check_effect(const RunContents& run, const ChosenTasks& chosen, const EffectRow& effect,
                  Findings& findings) {
  std::string name = "the effect " + in_quotes(effect.name) + " of " + in_quotes(effect.node);
  auto task = chosen.find(effect.task);
  // With Durability::exit, a superstep can end without a commit that scheduled its tasks.
  bool may_be_unknown = is_pruned(run) || commits_at_the_end(run);
  if (task == chosen.end()) {
    if (!may_be_unknown) findings.add(run, name + " belongs to a task that no commit scheduled.");
  } else if (task->second.node != effect.node) {
    findings.add(run,
                 name + " is of a task of another node, " + in_quotes(task->second.node) + ".");
  }
  bool has_result = effect.status == EffectStatus::done || effect.status == EffectStatus::failed;
  // The reservation of a model call is written before its result.
  bool may_have_reserved = !has_result && is_call_record(effect.name);
  if (has_result == effect.envelope.empty() && !may_have_reserved) {
    findings.add(run, name + " is " + std::string(name_of(effect.status)) +
                          (has_result ? " without a result." : ", but has a result."));
  } else if (has_result) {
    auto text = json_in_envelope(effect.envelope);
    bool is_readable = text.ok() ? parse_json(*text).ok() : text.error().code != ErrorCode::corrupt;
    if (!is_readable) findings.add(run, name + " has a result that cannot be read.");
  }
  if (is_final(run.row.status) && effect.status == EffectStatus::intended) {
    findings.add(run, name + " is intended, though its run has " +
                          std::string(name_of(run.row.status)) + ": it would be uncertain.");
  }
  // A keyed effect needs no recorded intent.
  bool was_intended = effect.effect_class == EffectClass::unkeyed || !has_result;
  if (effect.attempt < (was_intended ? 1 : 0) || effect.updated_at < effect.created_at) {
    findings.add(run, name + " was never started, or ended before it.");
  }
}

// Compares the journal with the number of rows that a task had at its end, from its commit or its
// own row. Fewer rows mean a truncated journal: a process that reads it would repeat effects.
void check_counts(const RunContents& run, Findings& findings) {
  std::map<TaskId, std::int64_t> counts;
  for (const EffectRow& effect : run.effects) ++counts[effect.task];
  auto expect = [&](const TaskId& task, const std::string& node, std::int64_t least) {
    std::int64_t count = counts[task];
    if (count >= least) return;
    findings.add(run, "the journal of " + in_quotes(node) + " has " + std::to_string(count) +
                          " of its " + std::to_string(least) + " effects: it was cut.");
  };
  std::map<std::uint64_t, const EventRow*> own;
  for (const EventRow& event : run.events) {
    if (event.index == 0) own[event.seq] = &event;
  }
  const ChosenTasks chosen = chosen_tasks(run);
  for (const auto& [id, task] : chosen) {
    if (task.is_one_of_several) {
      const TaskRow* row = task_row(*task.checkpoint_ns, task.superstep, task.position);
      if (row) expect(id, task.node, parts_of(*row)["effects"].as_int().value_or(0));
      continue;
    }
    // The task ended with the next commit of the run's own graph that ends nodes.
    if (task.checkpoint_ns != &run) continue;
    for (std::size_t i = task.checkpoint + 1; i < run.checkpoints.size(); ++i) {
      const CheckpointRow& checkpoint = run.checkpoints[i];
      if (checkpoint.kind != CommitKind::node) continue;
      auto event = own.find(checkpoint.seq);
      bool is_of_it = event != own.end() && checkpoint.node == task.node;
      auto body = is_of_it ? parse_json(event->second->body) : Result<Value>(Value());
      if (body.ok()) expect(id, task.node, (*body)["effects"].as_int().value_or(0));
      break;
    }
  }
}

void check_done_effects(const RunContents& run, const CheckScope& scope, Findings& findings) {
  for (const EffectRow& known : scope.done_effects) {
    if (known.run != run.row.run) continue;
    bool stays = false;
    for (const EffectRow& each : run.effects) {
      bool is_it = each.task == known.task && each.name == known.name;
      if (is_it) stays = each.status == EffectStatus::done && each.envelope == known.envelope;
    }
    if (!stays) {
      findings.add(run, "the effect " + in_quotes(known.name) + " of " + in_quotes(known.node) +
                            " was done, but its result was changed or deleted.");
    }
  }
}

// Checks that the rows of tasks belong to tasks that a commit has scheduled, with the same ids.
void check_task_rows(const RunContents& run, const SpaceContents& checkpoint_ns,
                     const ChosenTasks& chosen, Findings& findings) {
  for (const TaskRow& row : checkpoint_ns.tasks) {
    std::string name = "the task " + std::to_string(row.position) + " of superstep " +
                       std::to_string(row.superstep);
    auto found = chosen.find(row.task);
    bool is_chosen = found != chosen.end() && found->second.checkpoint_ns == &checkpoint_ns &&
                     found->second.superstep == row.superstep &&
                     static_cast<std::int64_t>(found->second.position) == row.position;
    bool was_held = commits_at_the_end(run) && found == chosen.end();
    if (!is_chosen && !was_held) {
      findings.add(run, name + " exists, but no commit scheduled it.");
    }
    if (parts_of(row).is_null()) findings.add(run, name + " cannot be read.");
  }
}

// Checks that pending writes belong to completed tasks of the superstep in progress.
void check_values_ahead(const RunContents& run, const SpaceContents& checkpoint_ns,
                        Findings& findings) {
  if (checkpoint_ns.checkpoints.empty()) return;
  const CheckpointRow& newest = checkpoint_ns.checkpoints.back();
  for (const ValueRow& value : checkpoint_ns.values) {
    if (value.seq <= newest.state_seq) continue;
    std::string name = "the value of " + in_quotes(value.channel) + " by task " +
                       std::to_string(value.index) + " of superstep " +
                       std::to_string(newest.superstep);
    if (value.seq != newest.state_seq + 1) {
      findings.add(run, name + " is above the next commit of the state.");
      continue;
    }
    const TaskRow* task = value.index < 0 ? nullptr
                                          : task_row(checkpoint_ns, newest.superstep,
                                                     static_cast<std::size_t>(value.index));
    if (!task || task->status != TaskStatus::done) {
      findings.add(run, name + " is stored, but the task is not done.");
    }
  }
}

// Checks that exactly the expired approvals with a message have sent it.
void check_expiry_messages(const RunContents& run, Findings& findings) {
  std::map<std::int64_t, const OutboxRow*> sent;
  for (const OutboxRow& row : run.outbox) {
    if (!detail::is_expiry_message(row)) continue;
    if (sent.emplace(row.index, &row).second) continue;
    findings.add(run, "the outbox has the message of one expiry twice.");
  }
  for (const ApprovalRow& approval : run.approvals) {
    auto message = sent.extract(detail::expiry_message_index(approval.interrupt));
    auto due = terms_of(approval);
    if (!due.ok()) {
      findings.add(approval, "the message of its expiry cannot be read.");
      continue;
    }
    bool was_pruned = is_pruned(run) && approval.seq < run.checkpoints.front().seq;
    bool is_due = due->on_expiry && approval.status == ApprovalStatus::expired;
    if (is_due && message.empty() && !was_pruned) {
      findings.add(approval, "it has expired, but its message is not in the outbox.");
    }
    if (message.empty()) continue;
    bool fits = is_due && message.mapped()->seq == approval.seq &&
                message.mapped()->topic == due->on_expiry->topic;
    if (!fits) findings.add(approval, "the outbox has a message of an expiry that is not its own.");
  }
  for (const auto& [index, row] : sent) {
    bool was_pruned = is_pruned(run) && row->seq < run.checkpoints.front().seq;
    if (was_pruned) continue;
    findings.add(run, "the outbox has the expiry message of an approval that does not exist.");
  }
}

}  // namespace

void i4_effects(const RunContents& run, const CheckScope& scope, Findings& findings) {
  if (!run.effects.empty()) {
    ChosenTasks chosen = chosen_tasks(run);
    std::set<std::pair<TaskId, std::string>> seen;
    for (const EffectRow& effect : run.effects) {
      check_effect(run, chosen, effect, findings);
      if (!seen.emplace(effect.task, effect.name).second) {
        findings.add(run, "the effect " + in_quotes(effect.name) + " of " + in_quotes(effect.node) +
                              " exists twice.");
      }
    }
  }
  if (!is_pruned(run) && !commits_at_the_end(run)) check_counts(run, findings);
  check_done_effects(run, scope, findings);
}

void i15_pending(const RunContents& run, const CheckScope&, Findings& findings) {
  bool has_tasks = false;
  for (const SpaceContents* checkpoint_ns : spaces_of(run))
    has_tasks = has_tasks || !checkpoint_ns->tasks.empty();
  ChosenTasks chosen;
  if (has_tasks) chosen = chosen_tasks(run);
  for (const SpaceContents* checkpoint_ns : spaces_of(run)) {
    if (!is_pruned(run)) check_task_rows(run, *checkpoint_ns, chosen, findings);
    check_values_ahead(run, *checkpoint_ns, findings);
  }
}

void i16_outbox(const RunContents& run, const CheckScope&, Findings& findings) {
  std::map<std::uint64_t, std::set<std::int64_t>> by_commit;
  std::set<std::uint64_t> commits;
  for (const CheckpointRow& each : run.checkpoints) commits.insert(each.seq);
  check_expiry_messages(run, findings);
  for (const OutboxRow& row : run.outbox) {
    std::string name = "the message " + std::to_string(row.index) + " of " + commit_text(row.seq);
    if (row.attempts < 0 || (row.status != OutboxStatus::waiting && row.attempts == 0)) {
      findings.add(run, name + " is " + std::string(name_of(row.status)) + " without an attempt.");
    }
    if (detail::is_expiry_message(row)) continue;
    if (!by_commit[row.seq].insert(row.index).second) findings.add(run, name + " exists twice.");
    bool was_pruned = is_pruned(run) && row.seq < run.checkpoints.front().seq;
    if (!commits.contains(row.seq) && !was_pruned) {
      findings.add(run, name + " belongs to a commit that does not exist.");
    }
  }
  for (const auto& [seq, indexes] : by_commit) {
    // Single messages can be missing only before the anchor of a pruned run.
    if (is_pruned(run) && seq < run.checkpoints.front().seq) continue;
    if (*indexes.begin() == 0 && *indexes.rbegin() + 1 == static_cast<std::int64_t>(indexes.size()))
      continue;
    findings.add(run, commit_text(seq) + " lacks one of its messages.");
  }
}

}  // namespace belay::check
