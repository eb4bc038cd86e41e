// P1, P3, I1 and I7: rules about a run and about each of its commits separately.

#include <algorithm>
#include <string_view>

#include "base/in_quotes.h"
#include "check/replay.h"
#include "check/rules.h"

namespace belay::check {
namespace {

// Splits a comma-separated list of nodes.
std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    std::size_t comma = std::min(text.find(','), text.size());
    names.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return names;
}

// Whether the node belongs to a subgraph of this graph, at any depth.
bool is_inside(const GraphDefinition& graph, const std::string& name) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const auto& node) {
    return node.subgraph &&
           (node.subgraph->graph->find(name) || is_inside(*node.subgraph->graph, name));
  });
}

void check_node_names(const RunContents& run, const SpaceContents& checkpoint_ns,
                      Findings& findings) {
  Replay replay(run, checkpoint_ns);
  while (replay.next()) {
    const GraphDefinition* graph = replay.graph();
    if (!graph) continue;
    const CheckpointRow& checkpoint = replay.checkpoint();
    std::vector<std::string> names = names_in(checkpoint.node);
    // A decision partway through a superstep names the node that asked, possibly in a subgraph.
    bool decides = checkpoint.kind == CommitKind::decision || checkpoint.kind == CommitKind::expiry;
    if (decides) std::erase_if(names, [&](const auto& name) { return is_inside(*graph, name); });
    if (replay.tasks()) {
      names.insert(names.end(), replay.tasks()->nodes.begin(), replay.tasks()->nodes.end());
    }
    if (checkpoint_ns.checkpoint_ns.empty() && replay.is_newest() && run.row.node != end) {
      for (std::string& name : names_in(run.row.node)) names.push_back(std::move(name));
    }
    for (const std::string& name : names) {
      if (graph->find(name)) continue;
      findings.add(run, commit_text(checkpoint) + " names the node " + in_quotes(name) +
                            ", which the graph " + in_quotes(graph->name) + " does not have.");
    }
  }
}

// Whether the commit's own event contains more than its checkpoint.
bool says_more(const CheckpointRow& checkpoint) {
  switch (checkpoint.kind) {
    case CommitKind::attempt:
    case CommitKind::decision:
    case CommitKind::expiry:
    case CommitKind::failure:
    case CommitKind::cancel:
    case CommitKind::quarantine:
    case CommitKind::consent:
      return true;
    default:
      return checkpoint.status == RunStatus::failed;
  }
}

void check_own_event(const RunContents& run, const CheckpointRow& checkpoint, const EventRow& own,
                     Findings& findings) {
  auto body = parse_json(own.body, limits::document_depth_max);
  const std::string* status = body.ok() ? (*body)["status"].as_string() : nullptr;
  if (own.type != name_of(checkpoint.kind) || !status || *status != name_of(checkpoint.status)) {
    findings.add(run, "the event of " + commit_text(checkpoint.seq) + " does not describe a " +
                          std::string(name_of(checkpoint.kind)) + " with the status " +
                          std::string(name_of(checkpoint.status)) + ".");
  }
}

// Checks the events of one commit, in order. An event that only repeats the checkpoint is not
// stored.
void check_events_of(const RunContents& run, const CheckpointRow& checkpoint,
                     const std::vector<const EventRow*>& events, Findings& findings) {
  std::string commit = commit_text(checkpoint.seq);
  bool has_own = !events.empty() && events.front()->index == 0;
  if (!has_own && says_more(checkpoint)) {
    findings.add(run, commit + ", a " + std::string(name_of(checkpoint.kind)) + ", has no event.");
  }
  std::int64_t index = has_own ? 0 : 1;
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
  if (has_own) check_own_event(run, checkpoint, *events.front(), findings);
}

void check_times(const RunContents& run, const SpaceContents& checkpoint_ns, Findings& findings) {
  Instant before = run.row.created_at;
  for (const CheckpointRow& checkpoint : checkpoint_ns.checkpoints) {
    if (checkpoint.run != run.row.run || checkpoint.checkpoint_ns != checkpoint_ns.checkpoint_ns) {
      findings.add(run, commit_text(checkpoint) + " belongs to another run.");
    }
    if (checkpoint.created_at < before) {
      findings.add(run, commit_text(checkpoint) + " is older than the commit before it.");
    }
    before = checkpoint.created_at;
  }
}

// The materials change with the owner: in its first commit, or in the first one that writes a state
// which was converted for them.
void check_materials(const RunContents& run, Findings& findings) {
  BillOfMaterials before;
  std::uint64_t epoch = 0;
  int changes = 0;
  for (const CheckpointRow& checkpoint : run.checkpoints) {
    auto next = engine::next_tasks_from(checkpoint.next_tasks);
    if (!next.ok()) continue;
    for (const auto& [group, text] : next->materials) {
      if (is_material_group(group) && !text.empty()) continue;
      findings.add(run, commit_text(checkpoint) + " names the materials " + in_quotes(group) +
                            ", which no program stores.");
    }
    if (checkpoint.epoch != epoch) changes = 0;
    bool is_changed = &checkpoint != &run.checkpoints.front() && next->materials != before;
    if (is_changed && ++changes > 1) {
      findings.add(run, commit_text(checkpoint) +
                            " has other materials than the commits before it "
                            "of the same owner.");
    }
    epoch = checkpoint.epoch;
    before = std::move(next->materials);
  }
}

}  // namespace

void p1_checkpoint_consistency(const RunContents& run, const CheckScope&, Findings& findings) {
  for (const SpaceContents* checkpoint_ns : spaces_of(run)) {
    check_times(run, *checkpoint_ns, findings);
    check_node_names(run, *checkpoint_ns, findings);
  }
  check_materials(run, findings);
}

void p3_terminal_state(const RunContents& run, const CheckScope&, Findings& findings) {
  const RunRow& row = run.row;
  if (row.status == RunStatus::completed) {
    if (row.node != end) {
      findings.add(run, "it is completed, but is at " + in_quotes(row.node) + ".");
    }
    if (row.outcome.empty()) findings.add(run, "it is completed without an outcome.");
    if (!row.error.empty()) findings.add(run, "it is completed with an error.");
  }
  if (row.status == RunStatus::failed && (row.error.empty() || !error_code_named(row.error_code))) {
    findings.add(run, "it has failed without an error.");
  }
  for (const SpaceContents* checkpoint_ns : spaces_of(run)) {
    const auto& all = checkpoint_ns->checkpoints;
    auto last = std::find_if(all.begin(), all.end(),
                             [](const CheckpointRow& each) { return is_final(each.status); });
    if (last != all.end() && last + 1 != all.end()) {
      findings.add(run, "it had ended with " + commit_text(*last) + ", but " +
                            commit_text(*(last + 1)) + " came after it.");
    }
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
    if (!is_there) findings.add(run, commit_text(seq) + " was acknowledged, but does not exist.");
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
                              ", which does not exist or is out of order.");
      }
    }
    check_events_of(run, checkpoint, own, findings);
  }
  if (event != run.events.end()) {
    findings.add(run,
                 "there is an event of " + commit_text(event->seq) + ", which does not exist.");
  }
}

}  // namespace belay::check
