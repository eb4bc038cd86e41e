#include "replay/completion_order.h"

#include <algorithm>

#include "engine/next_task.h"

namespace belay {

using engine::NodeTask;
using Phase = NodeTask::Phase;
using Turn = CompletionOrder::Turn;

namespace {

Turn end_of_superstep(const engine::Run& run, const CheckpointRow& next) {
  bool ends = next.superstep > run.superstep || next.kind == CommitKind::failure;
  return ends ? Turn::ends_all : Turn::later;
}

}  // namespace

// Commits of a subgraph have the epoch of the run's last commit before them: a higher epoch belongs
// to a later owner.
Turn CompletionOrder::turn_in(const Frame& frame, const NodeTask& task,
                              const CheckpointRow& next) const {
  bool is_root = frame.run.checkpoint_ns.empty();
  bool is_one_of_several = engine::is_parallel(frame.run);
  if (is_one_of_several) {
    auto ended = recorded_.ends.find(task.id);
    if (ended != recorded_.ends.end()) return ended->second < next.seq ? Turn::now : Turn::later;
  }
  if (is_root) return is_one_of_several ? frame.end : Turn::now;
  const CheckpointRow* inner = recorded_.checkpoint(frame.run.checkpoint_ns, frame.run.row.seq + 1);
  if (!inner) return frame.end;
  if (inner->epoch > frame.root.row.epoch) return Turn::later;
  if (is_final(inner->status)) return frame.end;
  return is_one_of_several ? Turn::at_end : Turn::now;
}

Turn CompletionOrder::turn_of(const engine::Run& run, const engine::AttemptId& attempt,
                              const CheckpointRow& next) const {
  const engine::Run* inner = &run;
  Turn last = end_of_superstep(run, next);
  for (std::size_t position : attempt.path) {
    last = turn_in({run, *inner, last}, inner->tasks[position], next);
    inner = inner->tasks[position].inner.get();
  }
  return turn_in({run, *inner, last}, inner->tasks[attempt.position], next);
}

Turn CompletionOrder::turn_of(const engine::Run& run, const InterruptId& interrupt,
                              const CheckpointRow& next) const {
  return turn_asked({run, run, end_of_superstep(run, next)}, interrupt, next);
}

Turn CompletionOrder::turn_asked(const Frame& frame, const InterruptId& interrupt,
                                 const CheckpointRow& next) const {
  for (const NodeTask& task : frame.run.tasks) {
    Turn turn = turn_in(frame, task, next);
    if (task.phase == Phase::interrupted && task.interrupt == interrupt) {
      // A decision on an interrupt within a node precedes the end of that node.
      return task.node->approval || turn == Turn::later ? turn : Turn::now;
    }
    if (task.phase != Phase::in_subgraph) continue;
    turn = turn_asked({frame.root, *task.inner, turn}, interrupt, next);
    if (turn != Turn::later) return turn;
  }
  return Turn::later;
}

bool CompletionOrder::has_more(const engine::Run& run, const CheckpointRow& next) const {
  return recorded_.has_order && has_more_in(run, run, next);
}

bool CompletionOrder::has_asked_more(const NodeTask& task, const CheckpointRow& next) const {
  if (task.phase != Phase::ready && task.phase != Phase::running) return false;
  auto asked = std::count_if(
      recorded_.approvals.begin(), recorded_.approvals.end(),
      [&](const ApprovalRow& row) { return row.task == task.id && row.seq <= next.seq; });
  return static_cast<std::size_t>(asked) > task.answers.size();
}

bool CompletionOrder::asks_more(const engine::Run& frame, const CheckpointRow& next) const {
  return std::any_of(frame.tasks.begin(), frame.tasks.end(), [&](const NodeTask& task) {
    return has_asked_more(task, next) || (task.inner && asks_more(*task.inner, next));
  });
}

bool CompletionOrder::has_more_in(const engine::Run& root, const engine::Run& frame,
                                  const CheckpointRow& next) const {
  auto is_recorded = [&](const std::string& checkpoint_ns, std::uint64_t seq) {
    const CheckpointRow* inner = recorded_.checkpoint(checkpoint_ns, seq);
    return inner && inner->epoch <= root.row.epoch;
  };
  for (const NodeTask& task : frame.tasks) {
    if (task.phase == Phase::done) continue;
    auto ended = recorded_.ends.find(task.id);
    if (ended != recorded_.ends.end() && ended->second < next.seq) return true;
    if (has_asked_more(task, next)) return true;
    if (task.phase == Phase::in_subgraph) {
      bool more = is_recorded(task.inner->checkpoint_ns, task.inner->row.seq + 1) ||
                  has_more_in(root, *task.inner, next);
      if (more) return true;
    } else if (task.node->subgraph) {
      if (is_recorded(engine::inner_checkpoint_ns(frame.checkpoint_ns, task.node->name, task.id),
                      1))
        return true;
    }
  }
  return false;
}

void CompletionOrder::set_timers(engine::Run& run, const CheckpointRow& next) const {
  if (recorded_.has_order) set_timers_in({run, run, end_of_superstep(run, next)}, run, next);
}

void CompletionOrder::set_timers_in(const Frame& frame, engine::Run& run,
                                    const CheckpointRow& next) const {
  constexpr auto far = std::chrono::hours(24 * 365 * 50);
  // The timer of a lone task is fired by a recorded commit of the run itself.
  bool is_alone = frame.run.checkpoint_ns.empty() && !engine::is_parallel(frame.run);
  for (NodeTask& task : run.tasks) {
    Turn turn = turn_in(frame, task, next);
    if (task.phase == Phase::in_subgraph)
      set_timers_in({frame.root, *task.inner, turn}, *task.inner, next);
    if (task.phase != Phase::sleeping || is_alone) continue;
    task.due = turn == Turn::later ? next.created_at + far : next.created_at;
  }
}

void CompletionOrder::wake(engine::Run& run, const CheckpointRow& next) const {
  bool is_alone = run.checkpoint_ns.empty() && !engine::is_parallel(run);
  for (NodeTask& task : run.tasks) {
    bool may_wake = recorded_.has_order && !is_alone;
    if (may_wake && task.phase == Phase::sleeping) task.due = next.created_at;
    if (task.phase == Phase::in_subgraph) wake(*task.inner, next);
  }
}

}  // namespace belay
