#pragma once
// engine/transition.h - handles one event: the implementation of advance().
//
// A run is a tree of frames: the run itself and, below each task that executes a subgraph, the
// frame of that task, which is a Run with its own namespace and row. A Transition handles one
// frame. All frames of an event share a TransitionOutput, from which at most one commit is made:
// one that raises the run's seq, a pending write, or both in one.

#include "base/append_all.h"
#include "engine/checkpoint.h"
#include "engine/event.h"
#include "engine/run_queries.h"

namespace belay::engine {

struct TransitionOutput {
  std::vector<Action> actions;
  std::unique_ptr<Commit> commit;  // raises the run's seq; null: none
  bool may_lag = false;
  CommitRows pending;
  bool has_pending = false;
  bool stops = false;
  bool flushes = false;  // commits are not deferred
  // Another event follows immediately: the results of tasks can wait for its commit.
  bool more = false;
  std::unique_ptr<Run> if_expired;  // see WriteCommit
  std::optional<Error> refusal;
};

class Transition {
 public:
  Transition(const GraphDefinition& graph, Run& run, TransitionOutput& work)
      : graph_(graph), run_(run), work_(work) {}

  void on(Started event);
  void on(Forked event);
  void on(Claimed event);
  void on(Committed event);
  void on(NodeEnded event);
  void on(NodeFailed event);
  void on(NodeInterrupted event);
  void on(TaskDue event);
  void on(RunTimedOut event);
  void on(Decided event);
  void on(ExpiredWhileActive event);
  void on(Damaged event);
  void on(Resumed event);
  void on(Consented event);
  void on(RecordChanged event);
  void on(Released event);
  void on(EffectsRecorded event);
  void on(Cancelled event);
  void release(const Moment& moment);

  // Called after the event, for the outermost frame: saves tasks, pauses or releases the run, and
  // assembles the commit.
  void finish(const Moment& moment);

 private:
  using Phase = NodeTask::Phase;

  // The frame of a subgraph task.
  Transition(NodeTask& task, Transition& outer)
      : graph_(*task.node->subgraph->graph),
        run_(*task.inner),
        work_(outer.work_),
        outer_(&outer),
        position_(task.position),
        kept_(task.inner) {}

  bool is_inner() const { return outer_ != nullptr; }
  Transition& root() { return outer_ ? outer_->root() : *this; }
  std::vector<std::size_t> path() const;
  bool is_running() const { return run_.row.status == RunStatus::running; }
  bool defers_commit() const;

  // Sets the columns of the row for the run's first commit.
  void open_row(const Moment& moment);

  // Passes the event to the frame of its task: this one or an inner one.
  template <typename Happened>
  bool pass_inside(Happened& event, std::size_t depth, void (Transition::*handle)(Happened&));
  NodeTask* task_of(const AttemptId& attempt, Phase phase);
  void ended_here(NodeEnded& event);
  void failed_here(NodeFailed& event);
  void asked_here(NodeInterrupted& event);
  void due_here(TaskDue& event);
  bool decided_inside(Decided& event);
  void decided_here(NodeTask& task, Decided& event);

  // superstep.cc
  void start_run(const Moment& moment);
  bool schedule_first_tasks(Step& step, const Moment& moment);
  void stop_at_breakpoint();
  void continue_tasks(const Moment& moment);
  void start_ready(const Moment& moment);
  void start_task(NodeTask& task, const Moment& moment);
  void start_inside(NodeTask& task, const Moment& moment);
  void task_done(NodeTask& task, const Moment& moment, CommitKind kind, Value detail);
  void end_superstep(const Moment& moment, CommitKind kind, Value detail);
  void inner_ended(std::size_t position, const Moment& moment);
  void complete();
  void pause(const Moment& moment);
  void commit(Step step, const Moment& moment);
  void wait_in_queue(const Moment& moment);
  bool ends_with_loose_ends() const;
  // Adds the place in the thread, and the records of the start, to the run's first commit.
  void add_start(Commit& commit);
  void emit_commit(Commit commit);
  void fail(Error why, const Moment& moment, int failed_attempts = 0);
  void mark_unsaved(NodeTask& task);
  void save_unsaved(const Moment& moment);
  CommitRows& pending();
  void keep_journal(NodeEffects& effects);

  // interrupts.cc
  void ask_for_approval(NodeTask& task, const Moment& moment);
  void ask(NodeTask& task, ApprovalRow approval, std::vector<std::size_t> changed,
           const Moment& moment);
  ApprovalRow approval_row(const NodeTask& task, const Moment& moment, const std::string& payload,
                           milliseconds expires, const ApprovalTerms& terms) const;
  void answer_approval(NodeTask& task, Decided& event);
  void answer_question(NodeTask& task, Decided& event);
  void decide_paused(Decided event);
  void decide_active(Decided event);
  void vote(Decided event);
  void attach_decided(Decided event, CommitRows& rows);
  void attach_decision(Decided event);
  void attach_expiry(Run run, Decided event);
  // Makes `session` the owner and raises the epoch; the next commit is guarded by the old epoch.
  void take_ownership(const SessionId& session, const Moment& moment);
  void clear_awaiting(Step& step);
  // From here on, the run is executed with the graph's bill: see graph/bill_of_materials.h.
  void adopt_materials();

  const GraphDefinition& graph_;
  Run& run_;
  TransitionOutput& work_;
  Transition* outer_ = nullptr;
  std::size_t position_ = 0;  // of the task in the outer frame
  // The epoch before this event, if the event changes it: the guard of the commit.
  std::optional<std::uint64_t> guard_epoch_;
  std::vector<RecordWrite> start_records_;  // for the run's first commit
  bool drops_step_ = false;                 // the step that would have been committed has failed
  bool to_queue_ = false;                   // if the run continues after this event, it is queued
  std::optional<std::int64_t> starting_;    // the superstep whose tasks start_ready() is starting
  // Keeps the frame's run alive: the outer frame drops it when the subgraph ends.
  std::shared_ptr<Run> kept_;
};

// Makes the next Committed continue all tasks that wait: backoffs, timers and subgraphs.
void note_waiting(Run& run);
// Removes and returns the custom events of the superstep's attempts, those in subgraphs included,
// for a commit that ends the run within the superstep. Records and messages remain: they are
// written only if the superstep completes.
std::vector<NodeEffects::CustomEvent> take_events(Run& run);
// Appends the effects of one task to those of others.
void add_effects(NodeEffects& to, NodeEffects&& from);

}  // namespace belay::engine
