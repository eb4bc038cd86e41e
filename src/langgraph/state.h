#pragma once
// langgraph/state.h - the states of a thread: its checkpoints, as the protocol shows them.
//
//   CheckpointReader reader(call, thread);
//   BELAY_CO_TRY(auto newest, co_await reader.next());
//
// A checkpoint of the protocol is the first commit of a superstep, as in the stream of a run
// (classic_stream.h); other commits are not visible, nor are those of a run that waits for the end
// of an earlier one. The checkpoints of all runs of a thread are one list, newest first. The parent
// of each is the one before it, but that of the first one of a run that begins from an earlier
// checkpoint (StateEdit::from) is this checkpoint.
//
// The newest checkpoint of a run is shown with the run's current state, and with the interrupts
// that wait; an older one is shown as it was committed.
//
// Threading: on the executor that awaits.

#include <deque>

#include "langgraph/run_records.h"

namespace belay::langgraph {

// A thread with the records of its runs, whose metadata are those of their checkpoints as well.
struct ThreadOfStates {
  ThreadView view;
  std::vector<RunRecord> runs;
};
// `not_found` for a thread that does not exist, or that the caller cannot read.
Task<Result<ThreadOfStates>> find_thread_of_states(AgentServer& served, const server::Call& call,
                                                   ThreadId thread);

struct ThreadCheckpoint {
  std::shared_ptr<const RunRow> run;
  CheckpointRow commit;
  CheckpointId parent;     // the checkpoint before it; null: none
  bool is_newest = false;  // of its run
};

// Reads the checkpoints of a thread, newest first. The service must outlive the reader.
class CheckpointReader {
 public:
  CheckpointReader(const server::Call& call, ThreadId thread)
      : CheckpointReader(call.service, call.who, std::move(thread)) {}
  CheckpointReader(Service& service, Principal who, ThreadId thread)
      : service_(service), who_(std::move(who)), thread_(std::move(thread)) {}

  // Returns the next older checkpoint; nullopt after the oldest. `exhausted` when more commits were
  // read than one request may read.
  Task<Result<std::optional<ThreadCheckpoint>>> next();
  // Returns the parent of the first checkpoint of a run of the thread; null: none. REQUIRES: the
  // runs before it have ended; no next().
  Task<Result<CheckpointId>> parent_of_first(RunRow run);

 private:
  struct ReadCommit {
    std::shared_ptr<const RunRow> run;
    CheckpointRow row;
  };
  Task<Result<Done>> read_page();
  Task<Result<Done>> set_parent(ThreadCheckpoint& checkpoint);
  Task<Result<std::optional<ThreadCheckpoint>>> next_without_parent();

  Service& service_;
  const Principal who_;
  const ThreadId thread_;
  std::deque<ReadCommit> commits_;  // newest first
  std::optional<std::pair<RunId, std::uint64_t>> last_read_;
  std::size_t read_ = 0;
  bool has_all_ = false;
  RunId run_;  // of the last checkpoint that was found
  bool has_begun_ = false;
  std::optional<ThreadCheckpoint> following_;  // the one to return next, without its parent
};

// Returns the parent of the first checkpoint of a run whose first superstep has started; null:
// none, or the thread was deleted meanwhile.
Task<Result<CheckpointId>> parent_of_run(Service& service, Principal who, RunRow run);

// The reference of a checkpoint: the members `checkpoint` and `parent_checkpoint`; null without an
// id. `space`: the namespace of a subgraph, with the checkpoint of the run's own graph.
Value checkpoint_reference(const std::string& thread, const std::string& id,
                           const std::string& space = {}, const std::string& root = {});

// Returns the checkpoint with the id, or the newest one; nullopt if the thread has none like that.
Task<Result<std::optional<ThreadCheckpoint>>> find_checkpoint(const server::Call& call,
                                                              ThreadId thread,
                                                              std::optional<CheckpointId> id);

// Returns the commit of the checkpoint that a request names; nullopt for an empty id. `newest`:
// also of the newest one, which is nullopt otherwise. `not_found` if the thread (null: a new one)
// does not have it, `invalid` if the text is not an id.
Task<Result<std::optional<RunCommit>>> commit_of_checkpoint(const server::Call& call,
                                                            const ThreadView* thread,
                                                            std::string id, bool newest);

// Returns the document `ThreadState` of the protocol. `subgraphs`: with the states of the subgraphs
// in progress.
Task<Result<Value>> state_document(AgentServer& served, const server::Call& call,
                                   const ThreadOfStates& thread, ThreadCheckpoint checkpoint,
                                   bool subgraphs);
// The state of a thread without a run.
Value empty_state();
// Its member `metadata`, by which a history can be filtered.
Value checkpoint_metadata(const ThreadOfStates& thread, const ThreadCheckpoint& checkpoint);
// Returns the state of the subgraph with this namespace, at any depth of a state that was made with
// `subgraphs`; null if none is in progress.
const Value* state_of_subgraph(const Value& state, std::string_view checkpoint_ns);

// A checkpoint that a request names: a text, {"checkpoint_id": ..., "checkpoint_ns": ...}, or such
// an object as the member "configurable". `invalid` for another kind, and for an id that is not a
// UUID.
struct NamedCheckpoint {
  std::optional<CheckpointId> id;
  std::string checkpoint_ns;  // of a subgraph; empty: the thread's own graph
};
Result<NamedCheckpoint> checkpoint_in(const Value& named, std::string_view member);

}  // namespace belay::langgraph
