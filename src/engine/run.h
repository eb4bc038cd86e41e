#pragma once
// engine/run.h - the engine's in-memory state of a run between two events: plain data, no I/O.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "belay/graph.h"
#include "belay/rows.h"
#include "graph/bill_of_materials.h"

namespace belay::engine {

struct Run;

// One scheduled execution of a node. It keeps its id over all attempts. A later execution of the
// same node in a cycle, or one in another branch, is another task.
struct NodeTask {
  enum class Phase {
    ready,        // starts when the commit in progress is durable
    running,      // an attempt is running
    backing_off,  // an attempt has failed; the next one starts at `due`
    interrupted,  // waits for a decision: see `interrupt`
    sleeping,     // a wait node: until `due`
    in_subgraph,  // executes a subgraph: see `inner`
    done,         // has completed; its writes are combined at the end of the superstep
  };

  TaskId id;
  const GraphDefinition::Node* node = nullptr;
  std::size_t position = 0;  // in its superstep
  Phase phase = Phase::ready;
  int attempt = 1;  // the running or next one
  Instant due{};
  std::optional<Error> previous_error;
  InterruptId interrupt;
  std::string question;  // key of the interrupt raised within the node; empty: none
  std::vector<std::pair<std::string, InterruptResponse>> answers;  // by question key
  std::shared_ptr<const std::string> input;  // JSON text of a send's input; null: none
  // On the approvals that led to it, oldest first; of an approval, without the one it waits for.
  std::vector<ApprovalDecision> decisions;

  // The result, once done.
  NodeUpdate answer;
  NodeEffects effects;
  std::optional<ApprovalDecision> decided;  // of an approval

  // In a superstep with several tasks: the writes are stored as pending writes.
  bool saved = false;
  // The run's newest commit when they were stored; 0: unknown.
  std::uint64_t saved_at = 0;
  std::shared_ptr<Run> inner;
};

// The current version of a channel: the commit that wrote it, and the hash of its text.
struct ChannelVersion {
  static constexpr std::size_t unknown_channel = static_cast<std::size_t>(-1);

  std::string name;
  std::size_t index = unknown_channel;  // in the state type; a channel unknown to it is preserved
  // 0: never written by this run. It has the value of the input or the default; with a hash, the
  // value that an earlier run of the thread has left.
  std::uint64_t seq = 0;
  // After a `set`: SHA-256 of its text. After each other write: SHA-256 of the hash before it, the
  // name of the write operation, and its text.
  Digest hash{};
  // Bytes of the newest `set`, and of the writes after it: a reader must read both.
  std::uint64_t set_bytes = 0;
  std::uint64_t added_bytes = 0;
  std::shared_ptr<const Unknown> unknown;  // members that newer code has written
};

// A value that the commit which starts a later run of a thread writes.
struct InitialValue {
  std::string channel;
  WriteOp kind = WriteOp::set;
  std::int64_t index = 0;  // see ValueRow
  std::string text;
};

struct Run {
  RunRow row;  // as of the newest commit, or the one in progress
  RunOptions options;
  // Namespace of a subgraph task: "node:task", nested ones separated by "|". Empty for the run
  // itself. The seq in the row of a subgraph's frame counts the commits of its namespace.
  std::string checkpoint_ns;
  // The graph version of the state. After an upgrade, it differs from the one that the run started
  // with.
  Digest version{};
  // Of the newest commit; empty: it has none.
  BillOfMaterials materials;
  // The state in memory was upgraded, and the stored one still has `version`: the next commit that
  // writes the state writes all of it, and has the graph's own version.
  bool is_upgraded = false;
  // Not changed while a node might read it: see owned_state().
  std::shared_ptr<void> state;
  std::vector<ChannelVersion> channels;  // sorted by name
  Digest chain_hash{};
  std::int64_t superstep = 0;
  std::uint64_t state_seq = 0;  // see CheckpointRow
  // The superstep that the pending writes above state_seq belong to; unset: no such writes exist.
  std::optional<std::int64_t> pending_superstep;
  std::uint64_t tasks_seq = 0;  // of the commit that scheduled the tasks
  // Of the superstep in progress, by position; empty if the run has ended.
  std::vector<NodeTask> tasks;
  std::size_t unfinished = 0;   // tasks that are not done
  std::size_t running = 0;      // tasks with a running attempt
  std::size_t first_ready = 0;  // no task before this position is ready
  // Positions of tasks: changed and not saved yet; to be continued by the next Committed; subgraphs
  // that contain changed tasks.
  std::vector<std::size_t> unsaved;
  std::vector<std::size_t> tasks_to_check;
  std::vector<std::size_t> unsaved_inside;
  bool at_breakpoint = false;  // the tasks wait at a breakpoint
  // Since a resume that named breakpoints: these, instead of those of the options.
  std::optional<Breakpoints> breakpoints_since;
  // The run waits for the end of earlier runs of its thread, and has no tasks yet.
  bool waits_for_thread = false;
  // Of a first run: the thread had this title, metadata and expiry before its runs were rolled
  // back.
  std::optional<ThreadRow> former_thread;
  RunId newest_of_thread;  // before this run is stored: see ThreadGuard
  // The end of that wait: the commit of the claim schedules the first tasks. An error makes the run
  // fail instead: its input does not fit the state of the thread.
  bool begins = false;
  std::optional<Error> cannot_begin;
  std::vector<InitialValue> initial_values;
  // By join: the nodes that have completed since the join last scheduled its target.
  std::map<std::size_t, std::vector<std::string>> joins;
  // Channels that the next commit must write: of deferred steps (Durability::exit), or of an
  // upgrade.
  std::vector<std::size_t> unwritten;
  // With Durability::exit: the newest commit belongs to an earlier superstep.
  bool has_uncommitted_steps = false;
  // With Durability::exit: effects of the deferred steps, for the next commit.
  NodeEffects deferred_effects;
  // Rows of model calls that join the next commit.
  std::vector<EffectRow> deferred_journal;
  // The working time since then is not yet in row.worked_ms; unset while no process executes the
  // run.
  Instant working_since{};
  // No more tasks are started; the run is released when no task is running. See Released.
  bool is_draining = false;
  // An effect might be stored as `intended`, by this process or an earlier one.
  bool may_have_intents = false;
};

// Returns the start time of an attempt: the newest commit, or the due time of its retry. It follows
// from stored data, so that a replay gives the node the same time.
inline Instant began_at(const Run& run, const Run& frame, const NodeTask& task) {
  return std::max({run.row.updated_at, frame.row.updated_at, task.due});
}

// The breakpoints of the run itself, in addition to those of its graph.
inline const Breakpoints& breakpoints_of(const Run& run) {
  return run.breakpoints_since ? *run.breakpoints_since : run.options.breakpoints;
}

inline bool is_parallel(const Run& run) { return run.tasks.size() > 1; }

}  // namespace belay::engine
