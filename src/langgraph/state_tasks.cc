#include "langgraph/state_tasks.h"

#include <algorithm>

#include "engine/next_task.h"
#include "engine/restore.h"
#include "events/event_rows.h"
#include "service/run_file.h"

namespace belay::langgraph {
namespace {

using check::RunContents;
using check::SpaceContents;
using server::Call;

// Returns the first commit of the superstep of the commit at `position`.
std::size_t begin_of_superstep(const SpaceContents& space, std::size_t position) {
  std::int64_t superstep = space.checkpoints[position].superstep;
  while (position > 0 && space.checkpoints[position - 1].superstep == superstep) --position;
  return position;
}

Result<Value> state_of_space(const SpaceContents& space, std::uint64_t state_seq) {
  Value::Object state;
  for (const ValueRow& row : space.values) {
    if (row.seq > state_seq || row.kind == WriteOp::reduce) continue;
    BELAY_TRY(Value value, value_in(row.envelope));
    engine::fold(row.kind, std::move(value), state[row.channel]);
  }
  return Value(std::move(state));
}

// Returns the pending writes of the task at `position`, by channel.
Result<Value> pending_writes(const SpaceContents& space, std::uint64_t state_seq,
                             std::size_t position) {
  Value::Object writes;
  for (const ValueRow& row : space.values) {
    if (row.seq <= state_seq || row.index != static_cast<std::int64_t>(position)) continue;
    BELAY_TRY(writes[row.channel], value_in(row.envelope));
  }
  return Value(std::move(writes));
}

void append_interrupts(const Value::Array& from, Value::Array& to) {
  to.insert(to.end(), from.begin(), from.end());
}

// Adds the interrupts and the subgraphs of tasks from the rows of their run.
class RunRows {
 public:
  RunRows(const RunContents& run, std::string root) : run_(run), root_(std::move(root)) {}

  Result<Done> add_to(const SpaceContents& space, const CheckpointRow& begin,
                      std::vector<StateTask>& tasks) const {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      StateTask& task = tasks[i];
      task.interrupts = interrupts_of_task(task.id);
      task.has_ended = has_ended(space, begin.superstep, i);
      if (task.has_ended) {
        BELAY_TRY(task.result, pending_writes(space, begin.state_seq, i));
      }
      auto inner =
          run_.inner.find(engine::inner_checkpoint_ns(space.checkpoint_ns, task.node, task.id));
      bool is_inside = !task.has_ended && inner != run_.inner.end();
      if (!is_inside || inner->second.checkpoints.empty()) continue;
      BELAY_TRY(task.state, state_inside(inner->second));
      append_interrupts(*task.state["interrupts"].as_array(), task.interrupts);
    }
    return Done{};
  }

 private:
  Value::Array interrupts_of_task(const TaskId& task) const {
    Value::Array interrupts;
    for (const ApprovalRow& row : run_.approvals) {
      bool waits = row.task == task && row.status == ApprovalStatus::open;
      if (waits) interrupts.push_back(interrupt_document(row));
    }
    return interrupts;
  }

  // A superstep of one task has no rows of tasks: it ends with its task.
  static bool has_ended(const SpaceContents& space, std::int64_t superstep, std::size_t position) {
    return std::any_of(space.tasks.begin(), space.tasks.end(), [&](const TaskRow& row) {
      return row.superstep == superstep && row.status == TaskStatus::done &&
             row.position == static_cast<std::int64_t>(position);
    });
  }

  Value reference(const SpaceContents& space, const CheckpointRow& commit) const {
    std::string id = commit.id.text();
    Value map = Value::object({{"", root_}, {space.checkpoint_ns, id}});
    return Value::object({{"thread_id", run_.row.thread.text},
                          {"checkpoint_id", std::move(id)},
                          {"checkpoint_ns", space.checkpoint_ns},
                          {"checkpoint_map", std::move(map)}});
  }

  Result<Value> state_inside(const SpaceContents& space) const {
    const CheckpointRow& newest = space.checkpoints.back();
    std::size_t position = begin_of_superstep(space, space.checkpoints.size() - 1);
    CheckpointRow begin = space.checkpoints[position];
    begin.run = run_.row.run;  // the rows of a run file do not repeat it
    begin.checkpoint_ns = space.checkpoint_ns;
    BELAY_TRY(std::vector<StateTask> tasks, state_tasks(begin));
    BELAY_CHECK(add_to(space, begin, tasks));
    BELAY_TRY(Value values, state_of_space(space, newest.state_seq));
    Value::Array interrupts;
    for (const StateTask& task : tasks) append_interrupts(task.interrupts, interrupts);
    Value parent;
    if (position > 0) {
      parent = reference(space, space.checkpoints[begin_of_superstep(space, position - 1)]);
    }
    Value metadata = Value::object({{"source", position == 0 ? "input" : "loop"},
                                    {"step", begin.superstep},
                                    {"parents", Value::object({{"", root_}})},
                                    {"run_id", run_.row.run.text()},
                                    {"thread_id", run_.row.thread.text}});
    return Value::object({{"values", std::move(values)},
                          {"next", next_nodes(tasks)},
                          {"tasks", task_documents(std::move(tasks), {})},
                          {"metadata", std::move(metadata)},
                          {"created_at", to_text(begin.created_at)},
                          {"checkpoint", reference(space, begin)},
                          {"parent_checkpoint", std::move(parent)},
                          {"interrupts", std::move(interrupts)}});
  }

  const RunContents& run_;
  const std::string root_;  // the checkpoint of the run's own graph
};

}  // namespace

Result<std::vector<StateTask>> state_tasks(const CheckpointRow& commit) {
  BELAY_TRY(engine::NextTasks next, engine::next_tasks_from(commit.next_tasks));
  bool several = next.tasks.size() > 1;
  std::vector<StateTask> tasks;
  for (std::size_t i = 0; i < next.nodes.size(); ++i) {
    StateTask& task = tasks.emplace_back();
    task.id = engine::task_id(commit.run, commit.checkpoint_ns, next.superstep, next.nodes[i],
                              several ? std::optional(i) : std::nullopt);
    task.node = next.nodes[i];
  }
  return tasks;
}

Value::Array next_nodes(const std::vector<StateTask>& tasks) {
  Value::Array next;
  for (const StateTask& task : tasks) {
    if (!task.has_ended) next.emplace_back(task.node);
  }
  return next;
}

Value task_documents(std::vector<StateTask> tasks, const std::string& failure) {
  Value::Array documents;
  for (StateTask& task : tasks) {
    Value path(Value::Array{Value("__pregel_pull"), Value(task.node)});
    documents.push_back(Value::object({{"id", task.id.text()},
                                       {"name", task.node},
                                       {"path", std::move(path)},
                                       {"error", failure.empty() ? Value() : Value(failure)},
                                       {"interrupts", std::move(task.interrupts)},
                                       {"checkpoint", Value()},
                                       {"state", std::move(task.state)},
                                       {"result", std::move(task.result)}}));
  }
  return Value(std::move(documents));
}

void add_interrupts(const RunView& view, std::vector<StateTask>& tasks) {
  bool are_known = true, waits = false;
  for (const ApprovalRow& approval : view.approvals) {
    bool is_shown = approval.status == ApprovalStatus::open && !tasks.empty();
    if (!is_shown) continue;
    auto task = std::find_if(tasks.begin(), tasks.end(), [&approval](const StateTask& each) {
      return each.id == approval.task;
    });
    are_known = are_known && (task != tasks.end() || tasks.size() == 1);
    if (task == tasks.end()) task = tasks.begin();
    task->interrupts.push_back(interrupt_document(approval));
    waits = view.row.status == RunStatus::paused;
  }
  // A run is paused for a person only when its other tasks have ended, or wait for a timer.
  for (StateTask& task : tasks) task.has_ended = waits && are_known && task.interrupts.empty();
}

Task<Result<Done>> add_subgraphs(const Call& call, const ThreadCheckpoint& checkpoint,
                                 std::vector<StateTask>& tasks) {
  if (!checkpoint.is_newest || tasks.empty()) co_return Done{};
  ThreadId thread = checkpoint.run->thread;
  std::optional<RunId> run = checkpoint.run->run;
  BELAY_CO_TRY(Value document, co_await call.service.export_run(call.who, std::move(thread), run));
  BELAY_CO_TRY(RunFile file, run_file_from(document));
  // The run has continued since its commits were read.
  if (file.contents.row.seq != checkpoint.run->seq) co_return Done{};
  RunRows rows(file.contents, checkpoint.commit.id.text());
  co_return rows.add_to(file.contents, checkpoint.commit, tasks);
}

}  // namespace belay::langgraph
