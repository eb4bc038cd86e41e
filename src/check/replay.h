#pragma once
// check/replay.h - a run, or a subgraph's visit, as it stood after each of its commits.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "check/contents.h"
#include "engine/next_task.h"
#include "engine/restore.h"
#include "engine/run.h"

namespace belay::check {

// Stands before the first commit at the beginning. `run` and `space` outlive it.
class Replay {
 public:
  // The run's own commits.
  explicit Replay(const RunContents& run) : Replay(run, run) {}
  // Those of one of its spaces.
  Replay(const RunContents& run, const SpaceContents& checkpoint_ns);

  // To the next commit; false after the last.
  bool next();

  const CheckpointRow& checkpoint() const { return space_.checkpoints[index_]; }
  // Null at the first.
  const CheckpointRow* parent() const { return index_ == 0 ? nullptr : &checkpoint() - 1; }
  // The first that is left of a pruned chain.
  bool is_anchor() const { return index_ == 0 && checkpoint().seq > 1; }
  bool is_newest() const { return index_ + 1 == space_.checkpoints.size(); }
  std::size_t index() const { return index_; }

  // A channel as it stood after this commit: what its rows come to, or the input's. Nothing where
  // it has neither, or can't be read.
  std::optional<Value> value(std::string_view channel) const;
  // Whether this commit itself changed the channel.
  bool writes(std::string_view channel) const;
  // The seq of the values that this commit wrote.
  std::uint64_t values_seq() const { return parent() ? parent()->state_seq + 1 : 1; }

  // What the stored bytes give for this checkpoint, whatever it says itself.
  Digest chain_hash() const;

  // What is to run next, those that an earlier commit chose included. Nothing when the text can't
  // be read, or that commit is not there.
  const std::optional<engine::NextTasks>& tasks() const;
  TaskId task_id(std::size_t position) const;
  // The graph, in the version that the run is of after this commit; null when it is not known.
  const GraphDefinition* graph() const;

  // The run as the engine would go on with it from here; whether the bytes are those that were
  // written is not asked. What is stored of single tasks is known for the newest commit only: after
  // an older one all of them are still to run. A subgraph's visit is read as a run of its own
  // graph. REQUIRES: graph().
  Result<engine::Run> restore() const;

 private:
  struct Channel {
    engine::ChannelVersion version;
    std::vector<const ValueRow*> rows;  // the newest `set` and what follows it
    // The value of the first so many of them.
    mutable Value folded;
    mutable std::size_t folded_rows = 0;
  };

  void take(const ValueRow& row);
  void read_tasks() const;
  std::vector<engine::ChannelVersion> versions() const;
  engine::StoredSpace rows_here() const;
  // What came after the newest checkpoint.
  void add_standing(engine::StoredSpace& stored) const;

  const RunContents& run_;
  const SpaceContents& space_;
  std::optional<Value> input_;
  Digest origin_{};  // what the first chain hash stands on
  std::size_t index_ = static_cast<std::size_t>(-1);
  std::size_t values_seen_ = 0;
  std::map<std::string, Channel, std::less<>> channels_;
  // Of this commit, when somebody has asked for them.
  mutable bool has_read_tasks_ = true;  // there are none before the first commit
  mutable std::optional<engine::NextTasks> tasks_;
  mutable std::string tasks_text_;  // of the commit that chose them, when it is another
};

// The run's own space, then its subgraphs'.
std::vector<const SpaceContents*> spaces_of(const RunContents& run);

// One visit of a node that a commit has chosen.
struct ChosenTask {
  const SpaceContents* checkpoint_ns = nullptr;
  std::size_t checkpoint = 0;  // index of the first that says so
  std::int64_t superstep = 0;
  std::size_t position = 0;
  bool is_one_of_several = false;
  std::string node;
};
using ChosenTasks = std::map<TaskId, ChosenTask>;
ChosenTasks chosen_tasks(const RunContents& run);

// What is stored of a task by itself; null for none.
const TaskRow* task_row(const SpaceContents& checkpoint_ns, std::int64_t superstep,
                        std::size_t position);
// Its envelope, as JSON; null when it can't be read.
Value parts_of(const TaskRow& row);

// The names of their nodes as a checkpoint says them; "end" for none.
std::string nodes_text(const engine::NextTasks& tasks);

// Whether commits of the run may cover many supersteps.
bool commits_at_the_end(const RunContents& run);

}  // namespace belay::check
