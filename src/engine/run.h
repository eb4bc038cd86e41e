#pragma once
// engine/run.h - a run as the engine holds it between two events: plain data, no I/O.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "belay/graph.h"
#include "belay/rows.h"

namespace belay::engine {

struct Run;

// One visit of one node. It keeps its id over all attempts of the visit; a later visit of the same
// node in a cycle, or another branch, is another task.
struct NodeTask {
  enum class Phase {
    ready,        // to be started once what is under way is durable
    running,      // an attempt is under way
    backing_off,  // a failed attempt is to be repeated at `due`
    interrupted,  // a person is asked: see `interrupt`
    sleeping,     // a wait node: until `due`
    in_subgraph,  // a subgraph: see `inner`
    done,         // has ended; what it changed waits for the end of its superstep
  };

  TaskId id;
  const GraphDefinition::Node* node = nullptr;
  std::size_t position = 0;  // in its superstep
  Phase phase = Phase::ready;
  int attempt = 1;  // the one that runs, or is next
  Instant due{};
  std::optional<Error> previous_error;
  InterruptId interrupt;
  std::string question;  // the key of the question asked in the middle of a node, if it is one
  std::vector<std::pair<std::string, InterruptResponse>> answers;  // by question key
  std::shared_ptr<const std::string> input;  // JSON text of what was sent, if any

  // What it came to, once done.
  NodeUpdate answer;
  NodeEffects effects;

  // In a superstep of several: what it changed is stored, beyond the state_seq.
  bool saved = false;
  // The run's newest commit when this was stored; 0 if it is unknown.
  std::uint64_t saved_at = 0;
  std::shared_ptr<Run> inner;
};

// The version of a channel that is current: the commit that wrote it, and the hash of its text.
struct ChannelVersion {
  static constexpr std::size_t unknown_channel = static_cast<std::size_t>(-1);

  std::string name;
  std::size_t index = unknown_channel;  // in the state type; a channel that it lacks is kept as is
  std::uint64_t seq = 0;                // 0: never written, the input's or the struct's default
  // Of the newest `set`: SHA-256 of its text. Of what was added since: SHA-256 of the hash before,
  // the name of the kind, and the text.
  Digest hash{};
  // Bytes of the newest `set`, and of what was added since: a reader has to read both.
  std::uint64_t set_bytes = 0;
  std::uint64_t added_bytes = 0;
  std::shared_ptr<const Unknown> unknown;  // what newer code has put into it
};

struct Run {
  RunRow row;  // as of the newest commit, or of the one under way
  RunOptions options;
  // Namespace of a subgraph's visit: "node:task", nested ones separated by "|". Empty for the run
  // itself. The row of an inner run counts the commits of its space.
  std::string checkpoint_ns;
  // The graph's version that the state is of: another than the one that the run began with once an
  // upgrade has changed it.
  Digest version{};
  // The state has been upgraded, and what is stored is still of `version`: the next commit that
  // writes the state writes all of it, and is of the graph's own version.
  bool is_upgraded = false;
  // Never changed while a node may look at it: see owned_state().
  std::shared_ptr<void> state;
  std::vector<ChannelVersion> channels;  // sorted by name
  Digest chain_hash{};
  std::int64_t superstep = 0;
  std::uint64_t state_seq = 0;  // see CheckpointRow
  std::uint64_t tasks_seq = 0;  // of the commit that chose the tasks
  // Of the superstep under way, in their fixed order; none when the run has ended.
  std::vector<NodeTask> tasks;
  std::size_t unfinished = 0;   // tasks that are not done
  std::size_t running = 0;      // tasks with an attempt under way
  std::size_t first_ready = 0;  // no task before this position is ready
  // Positions of tasks that changed and are not saved yet; that the next Committed has to look at;
  // of subgraphs that have such tasks.
  std::vector<std::size_t> unsaved;
  std::vector<std::size_t> tasks_to_check;
  std::vector<std::size_t> unsaved_inside;
  bool at_breakpoint = false;  // the tasks are at a breakpoint
  // By join: the nodes that have ended since its last visit.
  std::map<std::size_t, std::vector<std::string>> joins;
  // With Durability::exit: channels that the next commit has to write, and what goes with it.
  std::vector<std::size_t> unwritten;
  // With Durability::exit: the newest commit is of an earlier superstep.
  bool has_uncommitted_steps = false;
  NodeEffects deferred_effects;
  // Calls of the model that go with the next commit, and need none of their own.
  std::vector<EffectRow> deferred_journal;
  // The work from here on is not yet in row.worked_ms; unset while nobody works.
  Instant working_since{};
  // No task is started: the run is released once no task is running. See Released.
  bool is_draining = false;
  // An effect might be recorded as `intended`, by this process or by an earlier one.
  bool may_have_intents = false;
};

// When an attempt counts as begun: with the newest commit, or when its retry was due.
inline Instant began_at(const Run& run, const Run& frame, const NodeTask& task) {
  return std::max({run.row.updated_at, frame.row.updated_at, task.due});
}

inline bool is_parallel(const Run& run) { return run.tasks.size() > 1; }

}  // namespace belay::engine
