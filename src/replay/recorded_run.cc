#include "replay/recorded_run.h"

#include <limits>
#include <set>

#include "belay/limits.h"
#include "engine/decision.h"
#include "engine/next_task.h"

namespace belay {
namespace {

class Reading {
 public:
  Reading(Snapshot& view, RecordedRun& run) : view_(view), run_(run), of_(run.row) {}

  Result<Done> read_space(const GraphDefinition& graph, const std::string& checkpoint_ns) {
    std::vector<CheckpointRow>& all = run_.checkpoints[checkpoint_ns];
    while (true) {
      std::uint64_t after = all.empty() ? 0 : all.back().seq;
      BELAY_TRY(auto some,
                checkpoints_after(view_, of_, checkpoint_ns, after, limits::page_rows_max));
      if (some.empty()) break;
      std::move(some.begin(), some.end(), std::back_inserter(all));
    }
    if (all.empty()) {
      run_.checkpoints.erase(checkpoint_ns);
      return Done{};
    }
    BELAY_TRY(run_.values[checkpoint_ns],
              values_between(view_, of_, checkpoint_ns, 0, all.back().state_seq));
    BELAY_CHECK(read_tasks(checkpoint_ns));
    // A copy: reading inner namespaces adds to `run_.checkpoints` while this loop runs.
    std::vector<CheckpointRow> commits = all;
    for (const CheckpointRow& commit : commits)
      BELAY_CHECK(read_chosen(graph, checkpoint_ns, commit));
    return Done{};
  }

  Result<Done> read_rest() {
    BELAY_TRY(run_.events, stored_events(view_, of_, 0, run_.row.seq));
    BELAY_TRY(run_.approvals, approvals_of(view_, of_));
    OutboxFilter messages;
    messages.tenant = of_.tenant;
    messages.run = of_.run;
    messages.limit = std::numeric_limits<std::int32_t>::max();
    BELAY_TRY(run_.messages, view_.outbox(messages));
    EffectFilter effects;
    effects.tenant = of_.tenant;
    effects.run = of_.run;
    effects.limit = std::numeric_limits<std::int32_t>::max();
    BELAY_TRY(auto rows, view_.effects(effects));
    for (EffectRow& row : rows) {
      std::pair key(row.task, row.name);
      run_.effects.insert_or_assign(std::move(key), std::move(row));
    }
    return Done{};
  }

 private:
  // Reads the failed attempts of lone tasks, and the subgraphs that were entered.
  Result<Done> read_chosen(const GraphDefinition& graph, const std::string& checkpoint_ns,
                           const CheckpointRow& commit) {
    BELAY_TRY(engine::NextTasks next, engine::next_tasks_from(commit.next_tasks));
    if (next.version) {
      return error(
          ErrorCode::invalid,
          "The state of thread \"" + run_.row.thread.text +
              "\" was upgraded during the run. Only a run of one version can be replayed.");
    }
    bool several = next.tasks.size() > 1;
    for (std::size_t i = 0; i < next.tasks.size(); ++i) {
      TaskId task = engine::task_id(of_.run, checkpoint_ns, next.superstep, next.nodes[i],
                                    several ? std::optional(i) : std::nullopt);
      note_failure(task, next.tasks[i]);
      run_.spaces.emplace(task, checkpoint_ns);
      const GraphDefinition::Node* node = graph.find(next.nodes[i]);
      if (!node || !node->subgraph) continue;
      std::string inner = engine::inner_checkpoint_ns(checkpoint_ns, next.nodes[i], task);
      if (run_.checkpoints.contains(inner)) continue;
      BELAY_CHECK(read_space(*node->subgraph->graph, inner));
    }
    return Done{};
  }

  // In a superstep with several tasks, only the newest failure of each task is stored.
  Result<Done> read_tasks(const std::string& checkpoint_ns) {
    TaskFilter filter;
    filter.tenant = of_.tenant;
    filter.run = of_.run;
    filter.checkpoint_ns = checkpoint_ns;
    BELAY_TRY(auto rows, view_.tasks(filter));
    for (const TaskRow& row : rows) {
      BELAY_TRY(Value parts, value_in(row.envelope));
      engine::NodeTask task;
      BELAY_CHECK(engine::read_task_parts(parts, task));
      note_failure(row.task, task);
      auto seq = parts["seq"].as_int();
      run_.has_order = run_.has_order && seq;
      if (seq && row.status == TaskStatus::done) {
        run_.ends.insert_or_assign(row.task, static_cast<std::uint64_t>(*seq));
      }
      for (int attempt = 1; task.previous_error && attempt < task.attempt; ++attempt) {
        run_.failures[row.task].try_emplace(attempt, *task.previous_error);
      }
    }
    return Done{};
  }

  void note_failure(const TaskId& id, const engine::NodeTask& task) {
    if (task.attempt < 2 || !task.previous_error) return;
    run_.failures[id].insert_or_assign(task.attempt - 1, *task.previous_error);
  }

  Snapshot& view_;
  RecordedRun& run_;
  RunOf of_;
};

bool is_from_outside(CommitKind kind) {
  return kind == CommitKind::claim || kind == CommitKind::release || kind == CommitKind::timer ||
         kind == CommitKind::cancel || kind == CommitKind::quarantine ||
         kind == CommitKind::consent;
}

bool names(const CheckpointRow& commit, const std::string& node) {
  return ("," + commit.node + ",").find("," + node + ",") != std::string::npos;
}

// True if this commit can be the one that continued the task after its decision, according to the
// recorded order.
bool may_have_woken(const RecordedRun& run, const ApprovalRow& row, const CheckpointRow& commit) {
  auto ended = run.ends.find(row.task);
  if (ended != run.ends.end()) {
    const GraphDefinition::Node* node = run.graph->find(row.node);
    bool ends_at_once = node && node->approval;
    return ends_at_once ? ended->second + 1 == commit.seq : ended->second + 1 >= commit.seq;
  }
  auto checkpoint_ns = run.spaces.find(row.task);
  if (checkpoint_ns == run.spaces.end() || checkpoint_ns->second.empty()) return true;
  bool is_known = false;
  for (const CheckpointRow& inner : run.checkpoints.at(checkpoint_ns->second)) {
    bool decides = inner.kind == CommitKind::decision || inner.kind == CommitKind::expiry;
    if (!decides || inner.node != row.node) continue;
    if (inner.epoch == commit.epoch) return true;
    is_known = true;
  }
  return !is_known;
}

// Assigns to each commit that continued a paused run its decision: the one with the latest time
// that is not after the commit; if several have that time, the one whose node the commit names.
void find_wakes(RecordedRun& run) {
  std::set<InterruptId> used;
  const std::vector<CheckpointRow>& commits = run.commits();
  for (std::size_t i = 1; i < commits.size(); ++i) {
    const CheckpointRow& commit = commits[i];
    bool wakes = commits[i - 1].status == RunStatus::paused && !is_from_outside(commit.kind);
    if (!wakes) continue;
    const ApprovalRow* best = nullptr;
    for (const ApprovalRow& row : run.approvals) {
      bool fits = engine::is_decided(row.status) && !used.contains(row.interrupt) &&
                  row.seq < commit.seq && row.decided_at <= commit.created_at &&
                  may_have_woken(run, row, commit);
      if (!fits) continue;
      bool is_better = !best || row.decided_at > best->decided_at ||
                       (row.decided_at == best->decided_at && names(commit, row.node) &&
                        !names(commit, best->node));
      if (is_better) best = &row;
    }
    if (!best) continue;
    used.insert(best->interrupt);
    run.wakes.emplace(commit.seq, best->interrupt);
  }
}

// Returns the commit that started a later run of a thread.
Result<std::uint64_t> begun_at(const RecordedRun& run) {
  for (const CheckpointRow& commit : run.commits()) {
    if (commit.superstep > 0) return commit.seq;
  }
  return error(ErrorCode::invalid, "Run " + run.row.run.text() + " of thread \"" +
                                       run.row.thread.text +
                                       "\" has not started, so it cannot be replayed.");
}

}  // namespace

const CheckpointRow* RecordedRun::checkpoint(const std::string& checkpoint_ns,
                                             std::uint64_t seq) const {
  auto found = checkpoints.find(checkpoint_ns);
  if (found == checkpoints.end() || seq < 1 || seq > found->second.size()) return nullptr;
  return &found->second[seq - 1];
}

Result<RecordedRun> recorded_run(Snapshot& view, const GraphRegistry& graphs, RunRow row) {
  RecordedRun run;
  run.row = std::move(row);
  BELAY_TRY(run.graph, graphs.for_version(run.row.graph, run.row.graph_hash));
  run.graph = without_material_rules(std::move(run.graph));
  if (run.graph->hash != run.row.graph_hash) {
    return error(ErrorCode::invalid, "The run is of version " +
                                         to_hex(run.row.graph_hash).substr(0, 12) +
                                         " of the graph \"" + run.row.graph +
                                         "\". Replay it with a program that has this version.");
  }
  Reading reading(view, run);
  BELAY_CHECK(reading.read_space(*run.graph, {}));
  if (!run.checkpoints.contains({}) || run.commits().front().seq != 1) {
    return error(ErrorCode::invalid, "The first commits of thread \"" + run.row.thread.text +
                                         "\" have been pruned, so the run cannot be replayed.");
  }
  BELAY_CHECK(reading.read_rest());
  find_wakes(run);
  if (!run.row.forked_from.is_null()) run.started_at = 1;
  if (run.row.ordinal > 0) {
    BELAY_TRY(run.started_at, begun_at(run));
  }
  if (run.started_at > 0) {
    BELAY_TRY(run.started, stored_run(view, graphs, run.row, run.started_at));
  }
  return run;
}

}  // namespace belay
