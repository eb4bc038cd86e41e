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
    if (!node->subgraph) continue;
    for (const auto& [checkpoint_ns, inner] : stored.inner) {
      std::size_t begin = checkpoint_ns.rfind('|');
      std::string_view last = std::string_view(checkpoint_ns).substr(begin == std::string::npos
                                                                         ? 0
                                                                         : begin + 1);
      if (!last.starts_with(node->name + ":")) continue;
      std::string lost = lost_node(*node->subgraph->graph, inner);
      if (!lost.empty()) return lost;
    }
  }
  return {};
}

const ChannelType* channel_of(const GraphDefinition& graph, std::string_view name) {
  for (const ChannelType& channel : graph.state->channels) {
    if (channel.name == name) return &channel;
  }
  return nullptr;
}

// A channel that a completed task of the superstep wrote, and that the graph does not have.
std::string lost_pending_channel(const GraphDefinition& graph, const engine::StoredSpace& stored) {
  for (const ValueRow& row : stored.pending) {
    if (row.checkpoint_ns == stored.checkpoint.checkpoint_ns && !channel_of(graph, row.channel)) {
      return row.channel;
    }
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

// Returns the first stored channel that the graph does not have; empty: none.
std::string lost_channel(const GraphDefinition& graph, const Value& state) {
  for (const auto& [name, value] : *state.as_object()) {
    if (!channel_of(graph, name)) return name;
  }
  return {};
}

// Classifies a run that no graph continues, or that its graph fails to restore.
void explain(const GraphDefinition& newest, const engine::StoredRun& stored, bool can_have_hook,
             Error error, RehearsedRun& run) {
  run.reason = std::move(error.message);
  run.verdict = UpgradeVerdict::stranded;
  if (error.code == ErrorCode::corrupt) return;
  run.node = lost_node(newest, stored);
  if (!run.node.empty()) return;
  run.channel = lost_pending_channel(newest, stored);
  if (!run.channel.empty()) return;
  Value state = engine::raw_state(stored);
  run.channel = unreadable_channel(newest, state);
  if (run.channel.empty()) run.channel = lost_channel(newest, state);
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

// Whether the tasks and channels of the run could continue with the newest version, if an upgrade
// converted its state: restores it as if it were accepted.
Result<Done> fits_after_upgrade(const GraphDefinition& newest, const engine::StoredRun& stored) {
  std::string lost = lost_node(newest, stored);
  if (lost.empty()) return Done{};
  return error(ErrorCode::invalid,
               "The graph " + in_quotes(newest.name) + " has no node " + in_quotes(lost) +
                   " of that kind any more, with which the run continues. Keep it, or add the "
                   "version of the run to the program.");
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
  if (!graph.ok()) {
    auto fits = fits_after_upgrade(**newest, stored);
    return explain(**newest, stored, true, fits.ok() ? graph.error() : fits.error(), run);
  }
  Continuation how = GraphRegistry::continuation(**graph, *version);
  auto restored = call_guarded<engine::Run>("The run", [&] {
    return loader.restore(**graph, std::move(found));
  });
  bool waits = !restored.ok() && restored.error().code == ErrorCode::conflict;
  if (!restored.ok() && !waits) {
    return explain(**graph, stored, how != Continuation::same_version, restored.error(), run);
  }
  if (restored.ok() && restored->cannot_begin) {
    run.verdict = UpgradeVerdict::stranded;
    run.reason = restored->cannot_begin->message;
    return;
  }
  bool migrates = how == Continuation::upgrade;
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
    std::string subject = space == std::string::npos ? in_quotes(name)
                                                     : name.substr(0, space) + " " +
                                                           in_quotes(name.substr(space + 1));
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
