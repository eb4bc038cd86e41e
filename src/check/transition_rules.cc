// P5, P9 and P10: from one commit to the next.

#include <algorithm>
#include <set>

#include "check/replay.h"
#include "check/rules.h"
#include "engine/restore.h"

namespace belay::check {
namespace {

using engine::NextTask;
using engine::NodeTask;

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

// `targets`, and what comes after those that are approvals which need not ask.
std::set<std::string> with_passed(const GraphDefinition& graph, std::vector<std::string> targets) {
  std::set<std::string> reached;
  while (!targets.empty()) {
    std::string target = std::move(targets.back());
    targets.pop_back();
    const GraphDefinition::Node* node = graph.find(target);
    if (!reached.insert(std::move(target)).second) continue;
    if (node && node->approval) targets.push_back(node->approval->approved);
  }
  return reached;
}

int attempts_allowed(const GraphDefinition::Node& node, const engine::Run& run) {
  int allowed = node.retry.attempts;
  if (allowed > 1 && run.options.max_retries) allowed = std::max(1, *run.options.max_retries);
  return allowed;
}

// One step of a run: the commit, and what its parent had left to do.
class Step {
 public:
  Step(const RunContents& run, const CheckpointRow& checkpoint, NextTask before, NextTask next,
       Findings& findings)
      : run_(run),
        checkpoint_(checkpoint),
        before_(std::move(before)),
        next_(std::move(next)),
        findings_(findings) {}

  void check() {
    switch (checkpoint_.kind) {
      case CommitKind::input:
      case CommitKind::fork:
        return complain("begins a run that has begun");
      case CommitKind::node:
        return check_node();
      case CommitKind::attempt:
      case CommitKind::pause:
      case CommitKind::claim:
      case CommitKind::timer:
      case CommitKind::release:
      case CommitKind::quarantine:
        return check_stays();
      case CommitKind::decision:
      case CommitKind::expiry:
        return check_decision();
      case CommitKind::failure:
        return check_end(RunStatus::failed);
      case CommitKind::cancel:
        return check_end(RunStatus::cancelled);
    }
  }

  void check_first() {
    if (checkpoint_.seq > 1) return;  // what led to the anchor of a pruned chain is gone
    if (checkpoint_.kind == CommitKind::fork) return;  // it goes on where another run stood
    if (checkpoint_.kind != CommitKind::input) return complain("does not begin the run");
    if (checkpoint_.status == RunStatus::failed) return check_end(RunStatus::failed);
    go({run_.graph->entry}, 0);
  }

 private:
  void check_node() {
    if (!is_at_its_task()) return complain("ends a node that was not to run");
    const GraphDefinition::Node* node = run_.graph->find(checkpoint_.node);
    if (!node || node->approval) return complain("ends what is no node");
    go(node->targets, before_.superstep);
  }

  void check_stays() {
    if (!is_at_its_task() || !next_.task || next_.task->node != before_.task->node ||
        next_.superstep != before_.superstep) {
      return complain("moves the run on, or is not of the node that was to run");
    }
    bool pauses = checkpoint_.kind == CommitKind::pause;
    RunStatus status = pauses ? RunStatus::paused : RunStatus::running;
    if (checkpoint_.kind == CommitKind::release) status = RunStatus::queued;
    if (checkpoint_.kind == CommitKind::quarantine) status = RunStatus::quarantined;
    if (checkpoint_.status != status) complain("has the wrong status");
    if (checkpoint_.kind == CommitKind::claim) check_claim();
  }

  void check_claim() {
    const CheckpointRow& parent = *(&checkpoint_ - 1);
    bool writes = std::any_of(run_.values.begin(), run_.values.end(),
                              [&](const ValueRow& each) { return each.seq == checkpoint_.seq; });
    if (writes || checkpoint_.next_tasks != parent.next_tasks) {
      complain("changes what the run is to do, or its state");
    }
  }

  void check_decision() {
    if (!is_at_its_task()) return complain("decides what was not asked");
    const GraphDefinition::Node* node = run_.graph->find(checkpoint_.node);
    if (!node) return;  // P1
    if (!node->approval) {
      // A question in the middle of a node: it runs again, with the answer.
      bool stays = next_.task && next_.task->node == checkpoint_.node &&
                   next_.superstep == before_.superstep;
      if (!stays) complain("answers a question, but leaves the node that asked");
      return;
    }
    std::vector<std::string> targets{node->approval->rejected};
    if (checkpoint_.kind == CommitKind::decision) targets.push_back(node->approval->approved);
    go(std::move(targets), before_.superstep);
  }

  void check_end(RunStatus status) {
    if (checkpoint_.status != status || next_.task) complain("does not end the run");
  }

  void go(std::vector<std::string> targets, std::int64_t superstep) {
    std::string to(next_.task ? next_.task->node : end);
    if (!with_passed(*run_.graph, std::move(targets)).contains(to)) {
      return complain("goes on to " + quoted(to) + ", where no edge leads");
    }
    if (checkpoint_.status != (next_.task ? RunStatus::running : RunStatus::completed)) {
      complain("has the wrong status");
    }
    if (checkpoint_.superstep != superstep + 1 ||
        (next_.task && next_.superstep != checkpoint_.superstep)) {
      complain("is not one superstep further");
    }
  }

  bool is_at_its_task() const { return before_.task && before_.task->node == checkpoint_.node; }

  void complain(const std::string& what) {
    findings_.add(run_, commit_text(checkpoint_.seq) + ", a " +
                            std::string(name_of(checkpoint_.kind)) + " of " +
                            quoted(checkpoint_.node) + ", " + what + ".");
  }

  const RunContents& run_;
  const CheckpointRow& checkpoint_;
  NextTask before_;
  NextTask next_;
  Findings& findings_;
};

}  // namespace

void p5_retry_bound(const RunContents& run, const CheckScope&, Findings& findings) {
  auto options = engine::options_from(run.row.options);
  if (!run.graph || !options.ok()) return;
  engine::Run with_options;
  with_options.options = *std::move(options);
  std::optional<NextTask> before;
  for (const CheckpointRow& checkpoint : run.checkpoints) {
    auto next = engine::next_task_from(checkpoint.next_tasks);
    if (!next.ok()) return;
    const GraphDefinition::Node* node = next->task ? run.graph->find(next->task->node) : nullptr;
    if (node) {
      bool is_same_visit = before && before->task && before->superstep == next->superstep &&
                           before->task->node == next->task->node;
      int expected = is_same_visit ? before->task->attempt : 1;
      if (checkpoint.kind == CommitKind::attempt) ++expected;
      if (!before && checkpoint.seq > 1) expected = next->task->attempt;  // a pruned chain's anchor
      if (next->task->attempt != expected) {
        findings.add(run, "after " + commit_text(checkpoint.seq) + " the next attempt of " +
                              quoted(node->name) + " is the " +
                              std::to_string(next->task->attempt) + ". in place of the " +
                              std::to_string(expected) + ".");
      }
      int allowed = attempts_allowed(*node, with_options);
      if (next->task->attempt > allowed) {
        findings.add(run, "after " + commit_text(checkpoint.seq) + " the attempt " +
                              std::to_string(next->task->attempt) + " of " + quoted(node->name) +
                              " is due, of at most " + std::to_string(allowed) + ".");
      }
    }
    before = *std::move(next);
  }
}

void p9_recoverability(const RunContents& run, const CheckScope&, Findings& findings) {
  if (!run.graph) return;
  Replay replay(run);
  while (replay.next()) {
    const CheckpointRow& checkpoint = replay.checkpoint();
    auto restored = replay.restore();
    if (!restored.ok()) {
      findings.add(run,
                   commit_text(checkpoint.seq) + " can't be loaded: " + restored.error().message);
      continue;
    }
    bool is_asking = restored->task && restored->task->phase == NodeTask::Phase::asking;
    if (is_final(checkpoint.status) == restored->task.has_value() ||
        is_asking != (checkpoint.status == RunStatus::paused)) {
      findings.add(run, commit_text(checkpoint.seq) +
                            " loads, but what it says is next does not "
                            "fit the status " +
                            std::string(name_of(checkpoint.status)) + ".");
    }
  }
}

void p10_valid_transitions(const RunContents& run, const CheckScope&, Findings& findings) {
  if (!run.graph) return;
  NextTask before;
  for (const CheckpointRow& checkpoint : run.checkpoints) {
    auto next = engine::next_task_from(checkpoint.next_tasks);
    if (!next.ok()) return;
    if (!next->task) next->superstep = checkpoint.superstep;
    Step step(run, checkpoint, std::move(before), *next, findings);
    if (&checkpoint == &run.checkpoints.front()) {
      step.check_first();
    } else {
      step.check();
    }
    before = *std::move(next);
  }
}

}  // namespace belay::check
