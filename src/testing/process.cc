#include "testing/process.h"

#include <algorithm>
#include <exception>

namespace belay::testing {
namespace {

using When = CrashPoint::When;

std::string words_of(const Commit& commit) {
  if (commit.run_guard && !commit.run_guard->pending_for.is_null()) {
    return commit.rows.effects.empty() ? "a finished task" : "of an effect";
  }
  if (!commit.rows.checkpoint) return "a decision";
  const CheckpointRow& checkpoint = *commit.rows.checkpoint;
  std::string words(name_of(checkpoint.kind));
  if (!checkpoint.node.empty()) words += " of " + checkpoint.node;
  return words;
}

// Returns whether this commit makes the replies of the model durable, so that a crash does not
// return them to the script: the task that requested them has ended, or the journal contains them.
bool keeps_answers(const Commit& commit) {
  if (!commit.run_guard || commit.run_guard->pending_for.is_null()) return true;
  return std::any_of(commit.rows.effects.begin(), commit.rows.effects.end(),
                     [](const EffectRow& row) { return row.name.starts_with("model/"); });
}

void note(const CommitRows& rows, Traces& traces) {
  if (rows.checkpoint) traces.acknowledged.emplace_back(rows.checkpoint->run, rows.checkpoint->seq);
  for (const EffectRow& row : rows.effects) {
    if (row.status == EffectStatus::done) traces.done_effects.push_back(row);
  }
}

Error has_died() { return error(ErrorCode::cancelled, "This process has died."); }

// Marks a node as running during its lifetime.
class RunningNode {
 public:
  RunningNode(Process& process, std::string name, TaskId task)
      : process_(process), name_(std::move(name)), task_(task) {
    process_.starts_node(name_);
  }
  RunningNode(const RunningNode&) = delete;
  RunningNode& operator=(const RunningNode&) = delete;
  ~RunningNode() {
    process_.ends_call(task_);
    process_.ends_node(name_);
  }

 private:
  Process& process_;
  std::string name_;
  TaskId task_;
};

// Executor of a node's own code: reports its progress to the process. While a call of an effect is
// running, all posted work belongs to the call.
class NodeExecutor final : public Executor {
 public:
  NodeExecutor(Process& process, std::string node, TaskId task)
      : process_(process), node_(std::move(node)), task_(task) {}

  void post(Work work) override {
    if (process_.is_calling(task_)) return process_.post_of_call(told(std::move(work)));
    process_.post(told(std::move(work)));
  }
  TimerId call_after(std::chrono::microseconds delay, Work work) override {
    if (process_.is_calling(task_)) {
      return process_.call_of_call_after(delay, told(std::move(work)));
    }
    return process_.call_after(delay, told(std::move(work)));
  }
  void cancel(TimerId timer) override { process_.cancel(timer); }
  bool offload(Work work) override {
    if (process_.is_calling(task_)) return process_.offload_of_call(std::move(work));
    return process_.offload(std::move(work));
  }

 private:
  // The returned work can outlive this executor: it captures no pointer to it.
  Work told(Work work) const {
    return [&process = process_, node = node_, work = std::move(work)] {
      process.continues_node(node);
      work();
    };
  }

  Process& process_;
  std::string node_;
  TaskId task_;
};

// Awaitable that moves the awaiting coroutine, and all that it awaits later, to another executor.
struct OnExecutor {
  explicit OnExecutor(Executor& to) : executor(to) {}
  bool await_ready() const { return false; }
  template <typename Waiter>
  bool await_suspend(std::coroutine_handle<Waiter> self) {
    self.promise().executor = &executor;
    return false;
  }
  void await_resume() const {}
  Executor& executor;
};

using RunTask = std::function<Task<NodeResult>(const void*, Context&)>;

// `run` must live as long as the graph.
Task<NodeResult> run_watched(const RunTask& run, const std::string& name, const void* state,
                             Context& context, Process& process, Traces& traces) {
  if (process.is_dead()) co_return has_died();
  ++traces.attempts[name];
  RunningNode running(process, name, context.task());
  NodeExecutor executor(process, name, context.task());
  OnExecutor own(executor);
  co_await own;
  co_return co_await run(state, context);
}

}  // namespace

bool Process::outlives(CrashPoint moment) {
  if (crash_ == moment) {
    dead_ = true;
    stop_when_still();
  }
  moments_.push_back(std::move(moment));
  return !dead_;
}

bool Process::begins_commit(const Commit& commit) {
  if (dead_) return false;
  ++commits_;
  passed_ = 0;
  is_committing_ = true;
  committing_ = "commit " + std::to_string(commits_) + " (" + words_of(commit) + ")";
  return outlives({When::before_commit, commits_, 0, "before " + committing_ + " is written"});
}

bool Process::ends_commit() {
  if (dead_) return false;
  is_committing_ = false;
  return outlives({When::answer_lost, commits_, 0, "before the answer to " + committing_});
}

void Process::starts_node(const std::string& node) {
  running_.push_back(node);
  ran_.push_back(node);
}

void Process::ends_node(const std::string& node) {
  auto found = std::find(running_.begin(), running_.end(), node);
  if (found != running_.end()) running_.erase(found);
}

bool Process::passes(std::string what) {
  if (dead_) return false;
  ++passed_;
  std::string text = "after commit " + std::to_string(commits_) + ", moment " +
                     std::to_string(passed_) + ": " + std::move(what);
  return outlives({When::between, commits_, passed_, std::move(text)});
}

bool Process::is_calling(const TaskId& task) const {
  return std::find(calls_under_way_.begin(), calls_under_way_.end(), task) !=
         calls_under_way_.end();
}

Executor::Work Process::alive(Work work) {
  return [this, work = std::move(work)] {
    if (dead_) return;
    work();
    note_waits();
  };
}

Executor::Work Process::of_call(Work work) {
  return [this, work = std::move(work), held = of_calls_]() mutable {
    work();
    held.reset();
    note_waits();
    if (dead_) stop_when_still();
  };
}

void Process::stop_when_still() {
  if (of_calls_.use_count() == 1) loop_.stop();
}

void Process::note_waits() {
  for (const std::string& ran : std::exchange(ran_, {})) {
    bool waits = std::find(running_.begin(), running_.end(), ran) != running_.end();
    if (!waits || is_committing_ || dead_) continue;
    passes("\"" + ran + "\" waits");
    break;
  }
}

void Traces::know_collection(const std::string& name) {
  auto known = std::find(collections.begin(), collections.end(), name);
  if (known == collections.end()) collections.push_back(name);
}

const EffectRow* Traces::last_call(const TaskId& task, std::string_view name) const {
  for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
    if (call->task == task && call->name == name) return &*call;
  }
  return nullptr;
}

Task<Result<CommitOutcome>> ProcessStore::commit(Commit commit) {
  // A dead process never resumes: it awaits a completion that is not completed.
  Completion<Result<CommitOutcome>> never;
  if (!process_.begins_commit(commit)) co_return co_await never;
  Commit written = commit;
  auto outcome = co_await inner().commit(std::move(commit));
  bool is_applied = outcome.ok() && *outcome == CommitOutcome::applied;
  for (const RecordPut& record : written.rows.records) traces_.know_collection(record.collection);
  if (is_applied && keeps_answers(written)) traces_.committed_script = traces_.script;
  // A crash here loses the result: the rows are durable, but the process has not acknowledged them.
  if (!process_.ends_commit()) co_return co_await never;
  if (is_applied) note(written.rows, traces_);
  bool is_expired = outcome.ok() && *outcome == CommitOutcome::expired;
  if (is_expired) note(*written.if_expired, traces_);
  co_return std::move(outcome);
}

Task<Result<ModelReply>> ProcessModel::generate(ModelRequest request) {
  traces_.requests.push_back(request);
  Completion<Result<ModelReply>> never;
  if (!process_.passes("the model has been asked")) co_return co_await never;
  co_return co_await inner_.generate(std::move(request));
}

std::shared_ptr<const GraphDefinition> watched(const GraphDefinition& graph, Process& process,
                                               Traces& traces) {
  auto copy = std::make_shared<GraphDefinition>(graph);
  for (GraphDefinition::Node& node : copy->nodes) {
    if (node.run_plain) {
      node.run_plain = [run = node.run_plain, name = node.name, &process, &traces](
                           const void* state, Context& context) -> NodeResult {
        if (process.is_dead()) return has_died();
        ++traces.attempts[name];
        RunningNode running(process, name, context.task());
        return run(state, context);
      };
    } else if (node.run_task) {
      node.run_task = [run = node.run_task, name = node.name, &process, &traces](const void* state,
                                                                                 Context& context) {
        return run_watched(run, name, state, context, process, traces);
      };
    } else if (node.subgraph) {
      node.subgraph->graph = watched(*node.subgraph->graph, process, traces);
    }
  }
  return copy;
}

EffectObserver watch_effects(Process& process, Traces& traces) {
  return [&process, &traces](const EffectRow& row) {
    bool is_alive = !process.is_dead();
    if (row.status == EffectStatus::intended) {
      if (is_alive) {
        traces.calls.push_back(row);
        process.begins_call(row.task);
      }
    } else {
      process.ends_call(row.task);
      for (auto call = traces.calls.rbegin(); call != traces.calls.rend(); ++call) {
        if (call->task != row.task || call->name != row.name) continue;
        *call = row;
        break;
      }
      // The effect's function threw: its exception already ends the node, and a second exception
      // here would terminate the test.
      if (std::uncaught_exceptions() > 0) return;
      is_alive = process.passes("the effect \"" + row.name + "\" has been called");
    }
    if (is_alive) return;
    belay::detail::throw_failure(has_died());
  };
}

}  // namespace belay::testing
