// P2, P4 and P6: what the states of a run say one after the other. Channels are read by the names
// that the agents' specification gives them, whatever graph has them.

#include <algorithm>
#include <set>

#include "check/replay.h"
#include "check/rules.h"

namespace belay::check {
namespace {

constexpr std::string_view kAwaiting = "requiresApproval";
constexpr std::string_view kAnswer = "approved";

bool is_true(const std::optional<Value>& value) {
  const bool* flag = value ? value->as_bool() : nullptr;
  return flag && *flag;
}

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

// How many failed attempts a commit may add.
std::pair<std::int64_t, std::int64_t> failed_attempts(CommitKind kind) {
  if (kind == CommitKind::attempt) return {1, 1};
  // A node failed for good, or the run did by itself: by its time-out, for one.
  if (kind == CommitKind::failure) return {0, 1};
  return {0, 0};
}

void check_retry_counts(const RunContents& run, Findings& findings) {
  std::int64_t before = 0;
  for (const CheckpointRow& checkpoint : run.checkpoints) {
    auto [least, most] = failed_attempts(checkpoint.kind);
    bool is_anchor = &checkpoint == &run.checkpoints.front() && checkpoint.seq > 1;
    std::int64_t added = checkpoint.retry_count - before;
    if (!is_anchor && (added < least || added > most)) {
      findings.add(run, commit_text(checkpoint.seq) + ", a " +
                            std::string(name_of(checkpoint.kind)) + ", takes retryCount from " +
                            std::to_string(before) + " to " +
                            std::to_string(checkpoint.retry_count) + ".");
    }
    before = checkpoint.retry_count;
  }
}

// The channels that are true while a decision of `node` is awaited.
std::string_view awaiting_channel(const RunContents& run, const GraphDefinition::Node& node) {
  if (!node.approval || !node.approval->awaiting) return {};
  return run.graph->state->channels[*node.approval->awaiting].name;
}

std::string_view answer_channel(const RunContents& run, const ApprovalRow& approval) {
  const GraphDefinition::Node* node = run.graph ? run.graph->find(approval.node) : nullptr;
  if (!run.graph) return kAnswer;
  if (!node || !node->approval || !node->approval->answer) return {};
  return run.graph->state->channels[*node->approval->answer].name;
}

std::set<std::string_view> awaiting_channels(const RunContents& run) {
  std::set<std::string_view> names{kAwaiting};
  if (!run.graph) return names;
  for (const GraphDefinition::Node& node : run.graph->nodes) {
    std::string_view name = awaiting_channel(run, node);
    if (!name.empty()) names.insert(name);
  }
  return names;
}

void check_awaiting(const RunContents& run, const Replay& replay,
                    const std::set<std::string_view>& channels, Findings& findings) {
  const CheckpointRow& checkpoint = replay.checkpoint();
  bool is_paused = checkpoint.status == RunStatus::paused;
  auto task = replay.next_task();
  const GraphDefinition::Node* node = task && run.graph ? run.graph->find(task->node) : nullptr;
  std::string_view expected = is_paused && node ? awaiting_channel(run, *node) : "";
  for (std::string_view channel : channels) {
    bool is_set = is_true(replay.value(channel));
    if (is_set && !is_paused) {
      findings.add(run, quoted(channel) + " is true after " + commit_text(checkpoint.seq) +
                            ", where no decision is awaited.");
    }
    if (!is_set && channel == expected) {
      findings.add(run, quoted(channel) + " is not true after " + commit_text(checkpoint.seq) +
                            ", where a decision is awaited.");
    }
  }
}

// `replay` stands at the commit after the one that asked.
void check_answer(const RunContents& run, const Replay& replay, const ApprovalRow& approval,
                  Findings& findings) {
  const CheckpointRow& checkpoint = replay.checkpoint();
  if (checkpoint.kind != CommitKind::decision && checkpoint.kind != CommitKind::expiry) return;
  if (approval.status == ApprovalStatus::open || approval.status == ApprovalStatus::closed) {
    return;  // I5
  }
  std::string_view channel = answer_channel(run, approval);
  bool is_approved = approval.status == ApprovalStatus::approved;
  if (replay.writes(channel) && is_true(replay.value(channel)) != is_approved) {
    findings.add(run, quoted(channel) + " does not say after " + commit_text(checkpoint.seq) +
                          " that the approval is " + std::string(name_of(approval.status)) + ".");
  }
  bool is_last = checkpoint.status == RunStatus::completed;
  if (is_last && run.row.outcome != name_of(approval.status)) {
    findings.add(run, "it ended when its approval was " + std::string(name_of(approval.status)) +
                          ", but its outcome is " + quoted(run.row.outcome) + ".");
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
        findings.add(run, commit_text(replay.checkpoint().seq) + " takes " + quoted(channel) +
                              " from " + std::to_string(before) + " down to " +
                              std::to_string(now) + ".");
      }
      before = now;
    }
  }
}

void p4_approval_flow(const RunContents& run, const CheckScope&, Findings& findings) {
  std::set<std::string_view> channels = awaiting_channels(run);
  Replay replay(run);
  while (replay.next()) {
    check_awaiting(run, replay, channels, findings);
    if (!replay.parent()) continue;
    auto asked =
        std::find_if(run.approvals.begin(), run.approvals.end(),
                     [&](const ApprovalRow& each) { return each.seq == replay.parent()->seq; });
    if (asked != run.approvals.end()) check_answer(run, replay, *asked, findings);
  }
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
