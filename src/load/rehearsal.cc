#include "load/rehearsal.h"

#include <algorithm>
#include <map>

#include "base/in_quotes.h"
#include "belay/limits.h"
#include "engine/next_task.h"
#include "engine/restore.h"
#include "graph/call_guarded.h"
#include "load/run_loader.h"

namespace belay {
namespace {

using Definition = GraphRegistry::Definition;
constexpr std::size_t changes_shown_max = 3;

// Calls visit(inner graph, frame) for each subgraph in progress of a node; stops at a result that
// is not empty.
template <typename Visit>
std::string in_subgraphs(const GraphDefinition::Node& node, const engine::StoredSpace& stored,
                         Visit visit) {
  if (!node.subgraph) return {};
  for (const auto& [checkpoint_ns, inner] : stored.inner) {
    std::size_t bar = checkpoint_ns.rfind('|');
    std::size_t begin = bar == std::string::npos ? 0 : bar + 1;
    if (!std::string_view(checkpoint_ns).substr(begin).starts_with(node.name + ":")) continue;
    std::string found = visit(*node.subgraph->graph, inner);
    if (!found.empty()) return found;
  }
  return {};
}

// Returns the first node that the tasks of a frame, or of a subgraph in progress, continue with,
// and that the graph does not have, or not as that kind; empty: none.
std::string lost_node(const GraphDefinition& graph, const engine::StoredSpace& stored) {
  auto next = engine::next_tasks_from(engine::tasks_text_of(stored));
  if (!next.ok()) return {};
  for (std::size_t i = 0; i < next->tasks.size(); ++i) {
    const engine::NodeTask& task = next->tasks[i];
    const GraphDefinition::Node* node = graph.find(next->nodes[i]);
    if (!node) return next->nodes[i];
    bool waits = task.phase == engine::NodeTask::Phase::interrupted;
    if (waits && task.question.empty() != node->approval.has_value()) return node->name;
    std::string lost = in_subgraphs(*node, stored, lost_node);
    if (!lost.empty()) return lost;
  }
  return {};
}

const ChannelType* channel_of(const GraphDefinition& graph, std::string_view name) {
  for (const ChannelType& channel : graph.state->channels) {
    if (channel.name == name) return &channel;
  }
  return nullptr;
}

// Whether an update of a completed task can still be applied to its channel.
bool fits(const GraphDefinition& graph, const ValueRow& row) {
  const ChannelType* channel = channel_of(graph, row.channel);
  auto text = json_in_envelope(row.envelope);
  auto value = text.ok() ? parse_json(*text) : Result<Value>(text.error());
  if (!channel || !value.ok()) return false;
  if (row.kind != WriteOp::reduce) {
    Decoder in;
    return channel->combine(row.kind, *value, graph.state->make().get(), in, nullptr);
  }
  bool has_rule = channel->index < graph.channel_rules.size() &&
                  graph.channel_rules[channel->index].read_operand;
  return has_rule && graph.channel_rules[channel->index].read_operand(*value);
}

// A channel that a completed task of the superstep wrote, and that the graph does not have, or with
// a type to which that value does not fit. Upgrades do not apply to such values.
std::string lost_pending_channel(const GraphDefinition& graph, const engine::StoredSpace& stored) {
  for (const ValueRow& row : stored.pending) {
    bool is_of_frame = row.checkpoint_ns == stored.checkpoint.checkpoint_ns;
    if (is_of_frame && !fits(graph, row)) return row.channel;
  }
  return {};
}

// Returns the first channel whose value does not fit its type; empty: none.
std::string unreadable_channel(const GraphDefinition& graph, const Value& state) {
  std::shared_ptr<void> tried = graph.state->make();
  for (const ChannelType& channel : graph.state->channels) {
    const Value* found = state.find(channel.name);
    Decoder in;
    Unknown unknown;
    if (found && !channel.decode(*found, tried.get(), in, &unknown)) return channel.name;
  }
  return {};
}

// The same for the subgraphs in progress, whose states no upgrade converts.
std::string unreadable_inner_channel(const GraphDefinition& graph,
                                     const engine::StoredSpace& stored) {
  auto look = [](const GraphDefinition& inner_graph, const engine::StoredSpace& inner) {
    Value::Object state;
    for (const ValueRow& row : inner.values) {
      auto text = json_in_envelope(row.envelope);
      auto value = text.ok() ? parse_json(*text) : Result<Value>(text.error());
      if (value.ok()) engine::fold(row.kind, *std::move(value), state[row.channel]);
    }
    std::string found = unreadable_channel(inner_graph, Value(std::move(state)));
    if (found.empty()) found = lost_pending_channel(inner_graph, inner);
    return found.empty() ? unreadable_inner_channel(inner_graph, inner) : found;
  };
  for (const GraphDefinition::Node& node : graph.nodes) {
    std::string found = in_subgraphs(node, stored, look);
    if (!found.empty()) return found;
  }
  return {};
}

// Returns the first stored channel that the graph does not have; empty: none.
std::string lost_channel(const GraphDefinition& graph, const Value& state) {
  for (const auto& [name, value] : *state.as_object()) {
    if (!channel_of(graph, name)) return name;
  }
  return {};
}

// Why no upgrade could make the run continue with the graph; an empty reason: one could.
struct Obstacle {
  std::string node = {}, channel = {};
  std::string reason = {};
};
Obstacle obstacle_to(const GraphDefinition& graph, const engine::StoredRun& stored) {
  Obstacle found;
  found.node = lost_node(graph, stored);
  if (!found.node.empty()) {
    found.reason = "The run continues with the node " + in_quotes(found.node) +
                   ", which the graph " + in_quotes(graph.name) +
                   " does not have, or not as that kind. Keep the node, or register the version "
                   "of the run too.";
    return found;
  }
  found.channel = lost_pending_channel(graph, stored);
  if (found.channel.empty()) found.channel = unreadable_inner_channel(graph, stored);
  if (!found.channel.empty()) {
    found.reason = "A step in progress has written a value to the channel " +
                   in_quotes(found.channel) +
                   " that does not fit the graph, and no upgrade converts it. Keep the channel, or "
                   "register the version of the run too.";
    return found;
  }
  // The tasks alone: the state could be converted.
  if (!unreadable_channel(graph, engine::raw_state(stored)).empty()) return found;
  GraphDefinition without_upgrades = graph;
  without_upgrades.upgrades.clear();
  auto restored = call_guarded<engine::Run>(
      "The run", [&] { return engine::restore(without_upgrades, stored); });
  if (restored.ok()) return found;
  found.node = stored.row.node;
  found.reason = restored.error().message;
  return found;
}

// Classifies a run that no graph continues, or that its graph fails to restore.
void explain(const GraphDefinition& graph, const engine::StoredRun& stored, bool can_have_hook,
             Error error, RehearsedRun& run) {
  run.verdict = UpgradeVerdict::stranded;
  run.reason = std::move(error.message);
  if (error.code == ErrorCode::corrupt) return;
  Obstacle obstacle = obstacle_to(graph, stored);
  run.node = std::move(obstacle.node);
  run.channel = std::move(obstacle.channel);
  if (!obstacle.reason.empty()) {
    run.reason = std::move(obstacle.reason);
    return;
  }
  Value state = engine::raw_state(stored);
  run.channel = unreadable_channel(graph, state);
  if (run.channel.empty()) run.channel = lost_channel(graph, state);
  if (can_have_hook) run.verdict = UpgradeVerdict::needs_hook;
}

// The same graphs, of which the newest of each name reads runs of every version: subgraphs in
// progress are then loaded for all runs.
GraphRegistry tolerant(const std::vector<Definition>& graphs) {
  GraphRegistry registry;
  for (const Definition& graph : graphs) {
    auto accepting = std::make_shared<GraphDefinition>(*graph);
    accepting->accepts_older_versions = true;
    registry.add(std::move(accepting));
  }
  return registry;
}

void judge(const RunLoader& loader, LoadedRun found, RehearsedRun& run) {
  const GraphRegistry& graphs = *loader.graphs();
  const engine::StoredRun stored = found.stored;
  auto version = engine::version_of(stored);
  if (!version.ok()) {
    run.verdict = UpgradeVerdict::stranded;
    run.reason = version.error().message;
    return;
  }
  run.version = to_hex(*version);
  auto newest = graphs.newest(stored.row.graph);
  if (!newest.ok()) {
    run.verdict = UpgradeVerdict::stranded;
    run.reason = "The program has no graph " + in_quotes(stored.row.graph) + ".";
    return;
  }
  auto graph = graphs.for_version(stored.row.graph, *version);
  if (!graph.ok()) return explain(**newest, stored, true, graph.error(), run);
  Continuation how = GraphRegistry::continuation(**graph, *version);
  auto restored = call_guarded<engine::Run>(
      "The run", [&] { return loader.restore(**graph, std::move(found)); });
  bool waits = !restored.ok() && restored.error().code == ErrorCode::conflict;
  if (!restored.ok() && !waits) {
    return explain(**graph, stored, how != Continuation::same_version, restored.error(), run);
  }
  if (restored.ok() && restored->cannot_begin) {
    run.verdict = UpgradeVerdict::stranded;
    run.reason = restored->cannot_begin->message;
    return;
  }
  auto materials = engine::materials_of(stored);
  BillOfMaterials bill = materials.ok() ? *std::move(materials) : BillOfMaterials();
  if (auto refused = refusal_of(**graph, bill)) {
    run.verdict = UpgradeVerdict::refused;
    run.reason = *std::move(refused);
    return;
  }
  bool converts = rule_for(**graph, bill) == MaterialChange::migrate;
  bool migrates = how == Continuation::upgrade || converts;
  run.verdict = migrates ? UpgradeVerdict::migrates : UpgradeVerdict::continues;
}

Result<std::vector<RunRow>> unfinished_runs(Snapshot& view) {
  std::vector<RunRow> all;
  BELAY_TRY(std::vector<TenantId> tenants, view.tenants());
  for (const TenantId& tenant : tenants) {
    RunFilter filter;
    filter.tenant = tenant;
    filter.statuses = {RunStatus::queued, RunStatus::running, RunStatus::paused,
                       RunStatus::quarantined};
    filter.limit = limits::page_rows_max;
    filter.without_input = true;
    std::size_t begin = all.size();
    while (true) {
      BELAY_TRY(std::vector<RunRow> page, view.runs(filter));
      if (page.empty()) break;
      bool is_last = page.size() < filter.limit;
      filter.before = page.back().run;
      all.insert(all.end(), page.begin(), page.end());
      if (is_last) break;
    }
    std::reverse(all.begin() + static_cast<std::ptrdiff_t>(begin), all.end());
  }
  return all;
}

// "node send edge end" -> {"node send", "edge end"}.
std::pair<std::string, std::string> split_line(const std::string& line) {
  std::size_t first = line.find(' ');
  std::size_t second = line.find(' ', first + 1);
  if (second == std::string::npos) return {line, ""};
  return {line.substr(0, second), line.substr(second + 1)};
}

std::map<std::string, std::string> by_name(const std::vector<std::string>& structure) {
  std::map<std::string, std::string> lines;
  for (const std::string& line : structure) {
    bool is_named = line.starts_with("node ") || line.starts_with("channel ");
    lines.insert(is_named ? split_line(line) : std::pair(line, std::string()));
  }
  return lines;
}

}  // namespace

std::string_view name_of(UpgradeVerdict verdict) {
  switch (verdict) {
    case UpgradeVerdict::continues:
      return "continues";
    case UpgradeVerdict::migrates:
      return "migrates";
    case UpgradeVerdict::refused:
      return "refused";
    case UpgradeVerdict::needs_hook:
      return "needs a hook";
    case UpgradeVerdict::stranded:
      return "stranded";
  }
  return "stranded";
}

Task<Result<std::vector<RehearsedRun>>> rehearse_upgrade(Store& store,
                                                         std::vector<Definition> graphs) {
  RunLoader loader(store);
  for (const Definition& graph : graphs) loader.add(graph);
  auto readers = std::make_shared<const GraphRegistry>(tolerant(graphs));
  std::function<Result<std::vector<RunRow>>(Snapshot&)> lists = unfinished_runs;
  auto rows = co_await read<std::vector<RunRow>>(store, std::move(lists));
  if (!rows.ok()) co_return std::move(rows).error();
  std::vector<RehearsedRun> runs;
  for (RunRow& row : *rows) {
    RehearsedRun& run = runs.emplace_back();
    run.row = std::move(row);
    std::function<Result<LoadedRun>(Snapshot&)> load =
        [readers, tenant = run.row.tenant, id = run.row.run](Snapshot& view) -> Result<LoadedRun> {
      BELAY_TRY(RunRow whole, run_row(view, tenant, id));
      return RunLoader::load(view, *readers, std::move(whole), std::nullopt);
    };
    auto found = co_await read<LoadedRun>(store, std::move(load));
    if (found.ok()) {
      judge(loader, *std::move(found), run);
      continue;
    }
    if (found.error().code == ErrorCode::unavailable) co_return std::move(found).error();
    run.version = to_hex(run.row.graph_hash);
    run.verdict = UpgradeVerdict::stranded;
    run.reason = found.error().message;
  }
  co_return std::move(runs);
}

StructureChange change_between(const std::vector<std::string>& before,
                               const std::vector<std::string>& after) {
  StructureChange change;
  std::size_t count = 0;
  auto add = [&](const std::string& name, const std::string& what) {
    bool is_node = name.starts_with("node "), is_channel = name.starts_with("channel ");
    if (is_node && change.node.empty()) change.node = name.substr(5);
    if (is_channel && change.channel.empty()) change.channel = name.substr(8);
    if (++count > changes_shown_max) return;
    std::size_t space = is_node || is_channel ? name.find(' ') : std::string::npos;
    std::string subject = space == std::string::npos
                              ? in_quotes(name)
                              : name.substr(0, space) + " " + in_quotes(name.substr(space + 1));
    change.text += (change.text.empty() ? "The " : " The ") + subject + " " + what + ".";
  };
  auto old_lines = by_name(before), new_lines = by_name(after);
  for (const auto& [name, rest] : old_lines) {
    auto found = new_lines.find(name);
    if (found == new_lines.end()) {
      add(name, "was removed");
    } else if (found->second != rest) {
      add(name, "was changed from " + in_quotes(rest) + " to " + in_quotes(found->second));
    }
  }
  for (const auto& [name, rest] : new_lines) {
    if (!old_lines.contains(name)) add(name, "was added");
  }
  if (count > changes_shown_max) {
    change.text += " And " + std::to_string(count - changes_shown_max) + " more.";
  }
  if (count == 0 && before != after) change.text = "The order of the nodes was changed.";
  return change;
}

}  // namespace belay
