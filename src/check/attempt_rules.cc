// P5: the attempts of each task are counted, and within their bound.

#include <algorithm>

#include "base/in_quotes.h"
#include "check/replay.h"
#include "check/rules.h"
#include "engine/run_options.h"

namespace belay::check {
namespace {

using engine::NextTasks;
using engine::NodeTask;

int attempts_allowed(const GraphDefinition::Node& node, const RunOptions& options) {
  int allowed = node.retry.attempts;
  if (allowed > 1 && options.max_retries) allowed = std::max(1, *options.max_retries);
  return allowed;
}

// Checks the next attempt that a checkpoint states, for a superstep of one task.
void check_next_attempt(const RunContents& run, const Replay& replay,
                        const std::optional<NextTasks>& before, const RunOptions& options,
                        Findings& findings) {
  const CheckpointRow& checkpoint = replay.checkpoint();
  const NextTasks& next = *replay.tasks();
  const GraphDefinition* graph = replay.graph();
  const GraphDefinition::Node* node = graph ? graph->find(next.nodes.front()) : nullptr;
  if (!node || node->subgraph) return;
  const NodeTask& task = next.tasks.front();
  bool is_same_visit = before && before->tasks.size() == 1 && before->superstep == next.superstep &&
                       before->nodes == next.nodes;
  int expected = is_same_visit ? before->tasks.front().attempt : 1;
  if (checkpoint.kind == CommitKind::attempt) ++expected;
  if (replay.is_anchor()) expected = task.attempt;
  if (task.attempt != expected) {
    findings.add(run, "after " + commit_text(checkpoint) + " the next attempt of " +
                          in_quotes(node->name) + " is " + std::to_string(task.attempt) +
                          ", expected " + std::to_string(expected) + ".");
  }
  int allowed = attempts_allowed(*node, options);
  if (task.attempt > allowed) {
    findings.add(run, "after " + commit_text(checkpoint) + " the attempt " +
                          std::to_string(task.attempt) + " of " + in_quotes(node->name) +
                          " is due, of at most " + std::to_string(allowed) + ".");
  }
}

void check_attempts_of_several(const RunContents& run, const SpaceContents& checkpoint_ns,
                               const RunOptions& options, Findings& findings) {
  if (checkpoint_ns.tasks.empty() || !checkpoint_ns.graph) return;
  ChosenTasks chosen = chosen_tasks(run);
  for (const TaskRow& row : checkpoint_ns.tasks) {
    auto task = chosen.find(row.task);
    if (task == chosen.end()) continue;  // I15
    const GraphDefinition::Node* node = checkpoint_ns.graph->find(task->second.node);
    if (!node) continue;
    auto attempt = parts_of(row)["attempt"].as_int().value_or(1);
    int allowed = attempts_allowed(*node, options);
    if (attempt >= 1 && attempt <= allowed) continue;
    findings.add(run, "task " + std::to_string(row.position) + " of superstep " +
                          std::to_string(row.superstep) + ", " + in_quotes(node->name) +
                          ", is at the attempt " + std::to_string(attempt) + " of at most " +
                          std::to_string(allowed) + ".");
  }
}

}  // namespace

void p5_retry_bound(const RunContents& run, const CheckScope&, Findings& findings) {
  auto options = engine::options_from(run.row.options);
  if (!options.ok()) {
    findings.add(run, "its options cannot be read: " + options.error().message);
    return;
  }
  for (const SpaceContents* checkpoint_ns : spaces_of(run)) {
    if (!checkpoint_ns->graph) continue;
    std::optional<NextTasks> before;
    Replay replay(run, *checkpoint_ns);
    while (replay.next()) {
      if (replay.tasks() && replay.tasks()->tasks.size() == 1) {
        check_next_attempt(run, replay, before, *options, findings);
      }
      before = replay.tasks();
    }
    check_attempts_of_several(run, *checkpoint_ns, *options, findings);
  }
}

}  // namespace belay::check
