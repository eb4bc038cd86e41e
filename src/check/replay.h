#pragma once
// check/replay.h - computes the state of a run, or of a subgraph task, after each of its commits.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "check/contents.h"
#include "engine/next_task.h"
#include "engine/restore.h"
#include "engine/run.h"

namespace belay::check {

// An iterator over commits, initially before the first one. `run` and its namespaces must outlive
// it.
class Replay {
 public:
  // Over the commits of the run's own graph.
  explicit Replay(const RunContents& run) : Replay(run, run) {}
  // Over the commits of one of its namespaces.
  Replay(const RunContents& run, const SpaceContents& checkpoint_ns);

  // Moves to the next commit; returns false after the last.
  bool next();

  const CheckpointRow& checkpoint() const { return space_.checkpoints[index_]; }
  // Null at the first commit.
  const CheckpointRow* parent() const { return index_ == 0 ? nullptr : &checkpoint() - 1; }
  // True at the first remaining commit of a pruned chain.
  bool is_anchor() const { return index_ == 0 && checkpoint().seq > 1; }
  bool is_newest() const { return index_ + 1 == space_.checkpoints.size(); }
  std::size_t index() const { return index_; }

  // Returns a channel's value after this commit, from its rows or else from the input; nullopt if
  // neither contains it or it cannot be read.
  std::optional<Value> value(std::string_view channel) const;
  // Whether this commit itself changed the channel.
  bool writes(std::string_view channel) const;
  // Returns the seq of the values that this commit wrote.
  std::uint64_t values_seq() const { return parent() ? parent()->state_seq + 1 : 1; }

  // Returns the chain hash computed from the stored bytes, not the stored one.
  Digest chain_hash() const;

  // Returns the next tasks, also if an earlier commit has scheduled them; nullopt if the text
  // cannot be read or that commit does not exist.
  const std::optional<engine::NextTasks>& tasks() const;
  TaskId task_id(std::size_t position) const;
  // Returns the graph in the version of the run after this commit; null if unknown.
  const GraphDefinition* graph() const;

  // Returns the run as the engine would continue it from this commit, without a check of the chain
  // hash. Rows of single tasks are used at the newest commit only; after an older one, all tasks
  // count as not executed. A subgraph task is restored as a run of the subgraph. REQUIRES: graph().
  Result<engine::Run> restore() const;

 private:
  struct Channel {
    engine::ChannelVersion version;
    std::vector<const ValueRow*> rows;  // the newest `set` and the rows after it
    // The value of the first `folded_rows` rows.
    mutable Value folded;
    mutable std::size_t folded_rows = 0;
  };

  // False while a later run of a thread waits: the values before it do not belong to it yet.
  bool has_started() const;
  void take(const ValueRow& row);
  void read_tasks() const;
  std::vector<engine::ChannelVersion> versions() const;
  engine::StoredSpace rows_here() const;
  // Adds the rows after the newest checkpoint.
  void add_standing(engine::StoredSpace& stored) const;

  const RunContents& run_;
  const SpaceContents& space_;
  std::optional<Value> input_;
  Digest origin_{};  // the parent hash of the first chain hash
  std::size_t index_ = static_cast<std::size_t>(-1);
  std::size_t values_seen_ = 0;
  std::map<std::string, Channel, std::less<>> channels_;
  // Of this commit, parsed at the first call of tasks().
  mutable bool has_read_tasks_ = true;  // no tasks before the first commit
  mutable std::optional<engine::NextTasks> tasks_;
  mutable std::string tasks_text_;  // of the commit that scheduled them, if another one
};

// Returns the namespace of the run's own graph, then those of its subgraphs.
std::vector<const SpaceContents*> spaces_of(const RunContents& run);

// A task that a commit has scheduled.
struct ChosenTask {
  const SpaceContents* checkpoint_ns = nullptr;
  std::size_t checkpoint = 0;  // index of the first checkpoint that contains it
  std::int64_t superstep = 0;
  std::size_t position = 0;
  bool is_one_of_several = false;
  std::string node;
};
using ChosenTasks = std::map<TaskId, ChosenTask>;
ChosenTasks chosen_tasks(const RunContents& run);

// Returns the row of a single task; null if it does not exist.
const TaskRow* task_row(const SpaceContents& checkpoint_ns, std::int64_t superstep,
                        std::size_t position);
// Returns the row's envelope as JSON; null if it cannot be read.
Value parts_of(const TaskRow& row);

// Returns the names of their nodes as checkpoints state them; "end" without tasks.
std::string nodes_text(const engine::NextTasks& tasks);

// Whether commits of the run can cover several supersteps (Durability::exit).
bool commits_at_the_end(const RunContents& run);

}  // namespace belay::check
