// Part of I5: checks the state with which a fork begins.

#include <algorithm>

#include "base/in_quotes.h"
#include "belay/limits.h"
#include "check/replay.h"
#include "check/rules.h"
#include "engine/checkpoint.h"
#include "engine/decision.h"

namespace belay::check {
namespace {

// Returns the value of a channel that was never written; nullopt if it is unknown.
std::optional<Value> default_of(const GraphDefinition* graph, const std::string& name) {
  if (!graph) return std::nullopt;
  for (const ChannelType& channel : graph->state->channels) {
    if (channel.name != name) continue;
    Encoder text;
    channel.encode(graph->state->make().get(), text, nullptr);
    auto value = parse_json(text.text);
    if (value.ok()) return *std::move(value);
  }
  return std::nullopt;
}

// Returns the graph version of the state after the commit at which the replay is.
std::string version_at(const RunContents& run, const Replay& at) {
  const auto& tasks = at.tasks();
  return tasks && tasks->version ? *tasks->version : to_hex(run.row.graph_hash);
}

// Returns the channels whose initial value in the fork differs from the origin's value at that
// commit. A change by a state upgrade cannot be distinguished from an edit and is accepted.
std::vector<std::string> edited_channels(const RunContents& fork, const RunContents& origin,
                                         const Replay& at) {
  std::vector<std::string> edited;
  if (version_at(origin, at) != to_hex(fork.row.graph_hash)) return edited;
  auto text = json_in_envelope(fork.row.input);
  auto input =
      text.ok() ? parse_json(*text, limits::document_depth_max) : Result<Value>(text.error());
  const Value::Object* members = input.ok() ? input->as_object() : nullptr;
  if (!members) return edited;  // I2
  for (const auto& [name, value] : *members) {
    std::optional<Value> there = at.value(name);
    if (!there && !fork.graph) continue;  // its value is unknown
    if (!there) there = default_of(fork.graph.get(), name);
    if (!there || *there != value) edited.push_back(name);
  }
  return edited;
}

const CheckpointRow* commit_of(const RunContents& run, std::uint64_t seq) {
  for (const CheckpointRow& each : run.checkpoints) {
    if (each.seq == seq) return &each;
  }
  return nullptr;
}

// True if the approval showed one of these channels; true also for an approval of a subgraph,
// whose channel is unknown.
bool showed(const RunContents& run, const ApprovalRow& approval,
            const std::vector<std::string>& channels) {
  if (!run.graph || !engine::is_of_approval_node(approval)) return false;
  const GraphDefinition::Node* node = run.graph->find(approval.node);
  if (!node || !node->approval) return engine::has_approval_inside(*run.graph, approval.node);
  const std::string& shown = run.graph->state->channels[node->approval->channel].name;
  return std::find(channels.begin(), channels.end(), shown) != channels.end();
}

// The approvals that were decided before one commit of a run.
struct Decided {
  std::vector<const ApprovalRow*> skipped;  // by a fork that continues after that commit
  bool is_asked_anew = false;               // an approval of the superstep that restarts there
};

// `restarts`: the fork restarts the superstep in progress from its beginning.
Decided decided_before(const RunContents& run, std::uint64_t seq, bool restarts) {
  Decided decided;
  const CheckpointRow* here = commit_of(run, seq);
  for (const ApprovalRow& each : run.approvals) {
    if (!engine::is_decided(each.status) || engine::is_about_effect(each)) continue;
    engine::AskedAt asked =
        engine::asked_at(each, commit_of(run, each.seq - 1), commit_of(run, each.seq));
    if (restarts && here && asked.superstep == here->superstep) {
      decided.is_asked_anew = true;
    } else if (each.seq <= seq) {
      decided.skipped.push_back(&each);
    }
  }
  return decided;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + in_quotes(name);
  return text;
}

}  // namespace

void check_fork(const RunContents& run, Findings& findings) {
  if (run.ancestors.empty()) return;  // not a fork, or its origin was deleted
  const RunContents& origin = run.ancestors.front();
  Replay at(origin);
  while (at.next() && at.checkpoint().seq < run.row.forked_at) continue;
  bool is_there = !origin.checkpoints.empty() && at.checkpoint().seq == run.row.forked_at;
  if (!is_there) return;  // pruned
  std::vector<std::string> edited = edited_channels(run, origin, at);
  if (edited.empty()) return;
  std::uint64_t seq = run.row.forked_at;
  bool restarts = true;
  bool is_asked_anew = false;
  for (const RunContents& ancestor : run.ancestors) {
    Decided decided = decided_before(ancestor, seq, restarts);
    if (&ancestor == &origin) is_asked_anew = decided.is_asked_anew;
    for (const ApprovalRow* each : decided.skipped) {
      if (is_asked_anew && !showed(ancestor, *each, edited)) continue;
      return findings.add(run, "it begins with another " + listed(edited) +
                                   " than it was forked from, behind the approval " +
                                   each->interrupt.text() + " of thread " +
                                   in_quotes(each->thread.text) + ", which did not show it so.");
    }
    const CheckpointRow* first = commit_of(ancestor, 1);
    const CheckpointRow* here = commit_of(ancestor, seq);
    restarts = restarts && first && here && first->superstep == here->superstep;
    seq = ancestor.row.forked_at;
  }
}

}  // namespace belay::check
