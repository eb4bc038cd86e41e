// P1, P3, I1 and I7: what holds of a run and its commits one by one.

#include <algorithm>

#include "check/replay.h"
#include "check/rules.h"

namespace belay::check {
namespace {

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

void check_node_names(const RunContents& run, Findings& findings) {
  auto check_name = [&](const std::string& node, std::uint64_t seq) {
    if (node.empty() || run.graph->find(node)) return;
    findings.add(run, commit_text(seq) + " names the node " + quoted(node) + ", which the graph " +
                          quoted(run.row.graph) + " does not have.");
  };
  Replay replay(run);
  while (replay.next()) {
    const CheckpointRow& checkpoint = replay.checkpoint();
    check_name(checkpoint.node, checkpoint.seq);
    if (auto task = replay.next_task()) check_name(task->node, checkpoint.seq);
  }
  if (run.row.node != end) check_name(run.row.node, run.row.seq);
}

// The events of one commit, in their order.
void check_events_of(const RunContents& run, const CheckpointRow& checkpoint,
                     const std::vector<const EventRow*>& events, Findings& findings) {
  std::string commit = commit_text(checkpoint.seq);
  if (events.empty()) return findings.add(run, commit + " has no event.");
  std::int64_t index = 0;
  for (const EventRow* event : events) {
    if (event->index != index) {
      return findings.add(run, commit + " has no event " + std::to_string(index) + ", but event " +
                                   std::to_string(event->index) + ".");
    }
    if (event->created_at != checkpoint.created_at) {
      findings.add(run, "event " + std::to_string(index) + " of " + commit + " has another time.");
    }
    ++index;
  }
  const EventRow& own = *events.front();
  auto body = parse_json(own.body);
  const std::string* status = body.ok() ? (*body)["status"].as_string() : nullptr;
  if (own.type != name_of(checkpoint.kind) || !status || *status != name_of(checkpoint.status)) {
    findings.add(run, "the event of " + commit + " does not tell of a " +
                          std::string(name_of(checkpoint.kind)) + " with the status " +
                          std::string(name_of(checkpoint.status)) + ".");
  }
}

}  // namespace

void p1_checkpoint_consistency(const RunContents& run, const CheckScope&, Findings& findings) {
  Instant before = run.row.created_at;
  for (const CheckpointRow& checkpoint : run.checkpoints) {
    if (checkpoint.run != run.row.run) {
      findings.add(run, commit_text(checkpoint.seq) + " belongs to another run.");
    }
    if (checkpoint.created_at < before) {
      findings.add(run, commit_text(checkpoint.seq) + " is older than what was before it.");
    }
    before = checkpoint.created_at;
  }
  if (run.graph) check_node_names(run, findings);
}

void p3_terminal_state(const RunContents& run, const CheckScope&, Findings& findings) {
  const RunRow& row = run.row;
  if (row.status == RunStatus::completed) {
    if (row.node != end) {
      findings.add(run, "it is completed, but stands at " + quoted(row.node) + ".");
    }
    if (row.outcome.empty()) findings.add(run, "it is completed without an outcome.");
    if (!row.error.empty()) findings.add(run, "it is completed with an error.");
  }
  if (row.status == RunStatus::failed && (row.error.empty() || !error_code_named(row.error_code))) {
    findings.add(run, "it has failed without an error.");
  }
  auto last = std::find_if(run.checkpoints.begin(), run.checkpoints.end(),
                           [](const CheckpointRow& each) { return is_final(each.status); });
  if (last != run.checkpoints.end() && last + 1 != run.checkpoints.end()) {
    findings.add(run, "it had ended with " + commit_text(last->seq) + ", but " +
                          commit_text((last + 1)->seq) + " came after it.");
  }
}

void i1_nothing_acknowledged_lost(const RunContents& run, const CheckScope& scope,
                                  Findings& findings) {
  for (const auto& [acknowledged, seq] : scope.acknowledged) {
    if (acknowledged != run.row.run) continue;
    bool is_there = false;
    for (const CheckpointRow& each : run.checkpoints) is_there = is_there || each.seq == seq;
    bool is_pruned = !run.checkpoints.empty() && seq < run.checkpoints.front().seq;
    if (is_pruned) continue;
    if (!is_there) findings.add(run, commit_text(seq) + " was acknowledged and is not there.");
  }
}

void i7_events(const RunContents& run, const CheckScope&, Findings& findings) {
  auto event = run.events.begin();
  for (const CheckpointRow& checkpoint : run.checkpoints) {
    std::vector<const EventRow*> own;
    for (; event != run.events.end() && event->seq <= checkpoint.seq; ++event) {
      if (event->seq == checkpoint.seq) {
        own.push_back(&*event);
      } else {
        findings.add(run, "there is an event of " + commit_text(event->seq) +
                              ", which is not there or out of order.");
      }
    }
    check_events_of(run, checkpoint, own, findings);
  }
  if (event != run.events.end()) {
    findings.add(run, "there is an event of " + commit_text(event->seq) + ", which is not there.");
  }
}

}  // namespace belay::check
