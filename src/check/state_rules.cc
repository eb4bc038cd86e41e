// P2, P4 and P6: the sequence of a run's states. Channels are recognized by the names of the
// agents' specification, in any graph.

#include <algorithm>
#include <set>

#include "base/in_quotes.h"
#include "check/replay.h"
#include "check/rules.h"
#include "engine/run_queries.h"

namespace belay::check {
namespace {

constexpr std::string_view kAwaiting = "requiresApproval";
constexpr std::string_view kAnswer = "approved";

bool is_true(const std::optional<Value>& value) {
  const bool* flag = value ? value->as_bool() : nullptr;
  return flag && *flag;
}

// Returns the minimum and maximum number of failed attempts that a commit can add.
std::pair<std::int64_t, std::int64_t> failed_attempts(CommitKind kind) {
  if (kind == CommitKind::attempt) return {1, 1};
  // A node failed permanently, or the run itself did, for example by its timeout.
  if (kind == CommitKind::failure) return {0, 1};
  return {0, 0};
}

// Whether attempts can have failed since the previous commit without a separate commit: those of
// several tasks or of a subgraph are recorded in the rows of the tasks.
bool has_hidden_attempts(const RunContents& run, const std::optional<engine::NextTasks>& before,
                         const GraphDefinition* graph) {
  if (!before || before->tasks.size() > 1 || commits_at_the_end(run)) return true;
  if (!graph) return !run.inner.empty();
  return std::any_of(before->nodes.begin(), before->nodes.end(), [&](const std::string& name) {
    const GraphDefinition::Node* node = graph->find(name);
    return node && node->subgraph.has_value();
  });
}

// Counts all failed attempts that stored rows show.
std::int64_t known_failures(const RunContents& run) {
  std::int64_t known = 0;
  for (const SpaceContents* checkpoint_ns : spaces_of(run)) {
    for (const CheckpointRow& each : checkpoint_ns->checkpoints) {
      known += failed_attempts(each.kind).second;
      if (each.status == RunStatus::failed && each.kind == CommitKind::input) ++known;
    }
    for (const TaskRow& each : checkpoint_ns->tasks) {
      known += parts_of(each)["attempt"].as_int().value_or(1) - 1;
    }
  }
  return known;
}

void check_retry_counts(const RunContents& run, Findings& findings) {
  std::int64_t before = 0;
  bool hides_some = false;
  std::optional<engine::NextTasks> tasks;
  const GraphDefinition* graph = nullptr;
  Replay replay(run);
  while (replay.next()) {
    const CheckpointRow& checkpoint = replay.checkpoint();
    auto [least, most] = failed_attempts(checkpoint.kind);
    bool hidden = replay.parent() && has_hidden_attempts(run, tasks, graph);
    hides_some = hides_some || hidden;
    std::int64_t added = checkpoint.retry_count - before;
    bool is_copied = checkpoint.kind == CommitKind::fork && is_final(checkpoint.status);
    if (is_copied) most = added;  // a copy of an ended run, with its retry count
    if (!replay.is_anchor() && (added < least || (added > most && !hidden))) {
      findings.add(run, commit_text(checkpoint.seq) + ", a " +
                            std::string(name_of(checkpoint.kind)) + ", takes retryCount from " +
                            std::to_string(before) + " to " +
                            std::to_string(checkpoint.retry_count) + ".");
    }
    before = checkpoint.retry_count;
    tasks = replay.tasks();
    graph = replay.graph();
  }
  bool is_pruned = !run.checkpoints.empty() && run.checkpoints.front().seq > 1;
  if (!hides_some || is_pruned || commits_at_the_end(run)) return;
  std::int64_t known = known_failures(run);
  if (before > known) {
    findings.add(run, "its retryCount is " + std::to_string(before) + ", but only " +
                          std::to_string(known) + " attempts are known to have failed.");
  }
}

// Returns the channel that is true while the node waits for a decision.
std::string_view awaiting_channel(const GraphDefinition& graph, const std::string& name) {
  const GraphDefinition::Node* node = graph.find(name);
  if (!node || !node->approval || !node->approval->pending_flag) return {};
  return graph.state->channels[*node->approval->pending_flag].name;
}

std::string_view answer_channel(const SpaceContents& checkpoint_ns, const ApprovalRow& approval) {
  if (!checkpoint_ns.graph) return kAnswer;
  const GraphDefinition::Node* node = checkpoint_ns.graph->find(approval.node);
  if (!node || !node->approval || !node->approval->decision_flag) return {};
  return checkpoint_ns.graph->state->channels[*node->approval->decision_flag].name;
}

std::set<std::string_view> awaiting_channels(const SpaceContents& checkpoint_ns) {
  std::set<std::string_view> names{kAwaiting};
  if (!checkpoint_ns.graph) return names;
  for (const GraphDefinition::Node& node : checkpoint_ns.graph->nodes) {
    std::string_view name = awaiting_channel(*checkpoint_ns.graph, node.name);
    if (!name.empty()) names.insert(name);
  }
  return names;
}

// True if the run was cancelled by a program without its graph: the flag was not cleared.
bool lacked_code(const RunContents& run, const CheckpointRow& checkpoint) {
  if (checkpoint.status != RunStatus::cancelled) return false;
  if (checkpoint.kind == CommitKind::fork) return true;  // a copy, without the event of the cancel
  return engine::was_cancelled_without_code(run.events, checkpoint.seq);
}

// The flag is set only for an approval that is the only task of its superstep: other tasks would
// see it change. `is_forked`: the superstep is the one of a fork, which can have copied the flag of
// an approval that it requests again.
void check_awaiting(const RunContents& run, const Replay& replay, bool is_forked,
                    const std::set<std::string_view>& channels, Findings& findings) {
  const CheckpointRow& checkpoint = replay.checkpoint();
  const auto& next = replay.tasks();
  if (!next) return;  // P9
  bool is_alone = next->tasks.size() == 1;
  bool asks = is_alone && next->tasks.front().phase == engine::NodeTask::Phase::interrupted;
  const GraphDefinition* graph = replay.graph();
  std::string_view own = is_alone && graph ? awaiting_channel(*graph, next->nodes.front()) : "";
  std::string_view expected = asks ? own : "";
  for (std::string_view channel : channels) {
    bool is_set = is_true(replay.value(channel));
    bool will_ask = is_forked && channel == own;
    if (is_set && !asks && !will_ask && !lacked_code(run, checkpoint)) {
      findings.add(run, in_quotes(channel) + " is true after " + commit_text(checkpoint) +
                            ", where no decision is awaited.");
    }
    if (!is_set && channel == expected) {
      findings.add(run, in_quotes(channel) + " is not true after " + commit_text(checkpoint) +
                            ", where a decision is awaited.");
    }
  }
}

// Returns the approvals that these tasks requested.
std::vector<const ApprovalRow*> asked_by(const RunContents& run, const std::set<TaskId>& tasks) {
  std::vector<const ApprovalRow*> asked;
  for (const ApprovalRow& each : run.approvals) {
    if (tasks.contains(each.task)) asked.push_back(&each);
  }
  return asked;
}

// `replay` is at the commit that ended the superstep of these approvals' tasks.
void check_answers(const RunContents& run, const SpaceContents& checkpoint_ns, const Replay& replay,
                   const std::vector<const ApprovalRow*>& approvals, Findings& findings) {
  const CheckpointRow& checkpoint = replay.checkpoint();
  bool fits = approvals.empty();
  for (const ApprovalRow* approval : approvals) {
    bool is_untouched =
        approval->status == ApprovalStatus::open || approval->status == ApprovalStatus::closed;
    if (is_untouched) continue;  // I5
    fits = fits || run.row.outcome == name_of(approval->status);
    std::string_view channel = answer_channel(checkpoint_ns, *approval);
    bool is_approved = approval->status == ApprovalStatus::approved;
    if (replay.writes(channel) && is_true(replay.value(channel)) != is_approved) {
      findings.add(run, in_quotes(channel) + " does not record after " + commit_text(checkpoint) +
                            " that the approval is " + std::string(name_of(approval->status)) +
                            ".");
    }
  }
  bool decides = checkpoint.kind == CommitKind::decision || checkpoint.kind == CommitKind::expiry;
  bool is_last =
      decides && checkpoint.status == RunStatus::completed && checkpoint_ns.checkpoint_ns.empty();
  if (is_last && !fits) {
    findings.add(run, "it ended with " + commit_text(checkpoint) +
                          ", a decision, but its outcome " + in_quotes(run.row.outcome) +
                          " matches no recorded decision.");
  }
}

void check_flow(const RunContents& run, const SpaceContents& checkpoint_ns, Findings& findings) {
  std::set<std::string_view> channels = awaiting_channels(checkpoint_ns);
  std::set<TaskId> before;
  bool is_forked = false;
  Replay replay(run, checkpoint_ns);
  while (replay.next()) {
    const CheckpointRow& checkpoint = replay.checkpoint();
    bool ends = replay.parent() && replay.parent()->superstep != checkpoint.superstep;
    is_forked = checkpoint.kind == CommitKind::fork || (is_forked && !ends);
    check_awaiting(run, replay, is_forked, channels, findings);
    if (ends && !before.empty()) {
      check_answers(run, checkpoint_ns, replay, asked_by(run, before), findings);
    }
    before.clear();
    if (!replay.tasks()) continue;
    for (std::size_t i = 0; i < replay.tasks()->tasks.size(); ++i) {
      before.insert(replay.task_id(i));
    }
  }
}

std::optional<std::int64_t> recommendations(const Replay& replay) {
  auto result = replay.value("analysisResult");
  const Value::Array* list = result ? (*result)["recommendations"].as_array() : nullptr;
  if (!list) return std::nullopt;
  return static_cast<std::int64_t>(list->size());
}

std::optional<std::int64_t> number(const std::optional<Value>& value) {
  return value ? value->as_int() : std::nullopt;
}

}  // namespace

void p2_state_monotonicity(const RunContents& run, const CheckScope&, Findings& findings) {
  check_retry_counts(run, findings);
  for (std::string_view channel : {"retryCount", "validationAttempts"}) {
    std::int64_t before = 0;
    Replay replay(run);
    while (replay.next()) {
      std::int64_t now = number(replay.value(channel)).value_or(before);
      if (now < before) {
        findings.add(run, commit_text(replay.checkpoint().seq) + " takes " + in_quotes(channel) +
                              " from " + std::to_string(before) + " down to " +
                              std::to_string(now) + ".");
      }
      before = now;
    }
  }
}

void p4_approval_flow(const RunContents& run, const CheckScope&, Findings& findings) {
  for (const SpaceContents* checkpoint_ns : spaces_of(run))
    check_flow(run, *checkpoint_ns, findings);
}

void p6_validation_feedback(const RunContents& run, const CheckScope&, Findings& findings) {
  std::optional<std::int64_t> at_first;
  Replay replay(run);
  while (replay.next()) {
    std::int64_t attempts = number(replay.value("validationAttempts")).value_or(0);
    auto now = recommendations(replay);
    if (attempts == 0) at_first = now;
    if (attempts < 2 || !now) continue;
    std::int64_t expected = at_first.value_or(0) + attempts - 1;
    if (*now >= expected) continue;
    findings.add(run, "after " + commit_text(replay.checkpoint().seq) + " it has " +
                          std::to_string(attempts) + " validations and " + std::to_string(*now) +
                          " recommendations: one of them has added none.");
    return;
  }
}

}  // namespace belay::check
