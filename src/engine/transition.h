#pragma once
// engine/transition.h - one event's handling: what advance() is made of.
//
// A run is a tree of frames: itself, and below each task that is inside a subgraph the frame of
// that visit, which is a Run with a space and a row of its own. An Transition handles one frame.
// All frames of one event share a Work, from which one commit is made: an advancing one of the run,
// a pending write, or both in one.

#include "engine/checkpoint.h"
#include "engine/event.h"

namespace belay::engine {

struct TransitionOutput {
  std::vector<Action> actions;
  std::unique_ptr<Commit> commit;  // that raises the run's seq
  bool may_lag = false;
  CommitRows pending;
  bool has_pending = false;
  bool stops = false;
  bool flushes = false;  // nothing is held back
  // Another event follows at once: what tasks came to may wait for its commit.
  bool more = false;
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
  void on(Resumed event);
  void on(Released event);
  void on(Flushed event);
  void on(Cancelled event);
  void release(const Moment& moment);

  // After the event: what is left to be decided of the run as a whole. For the outermost frame.
  void finish(const Moment& moment);

 private:
  using Phase = NodeTask::Phase;

  // The frame inside of `task`.
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

  // Fills in what a row has before its first commit.
  void open_row(const Moment& moment);

  // Where an event goes: this frame, or one inside of it.
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
  void emit_commit(Commit commit);
  void fail(Error why, const Moment& moment, int failed_attempts = 0);
  void mark_unsaved(NodeTask& task);
  void save_unsaved(const Moment& moment);
  CommitRows& pending();
  void keep_journal(NodeEffects& effects);

  // asking.cc
  void ask_for_approval(NodeTask& task, const Moment& moment);
  void ask(NodeTask& task, ApprovalRow approval, std::vector<std::size_t> changed,
           const Moment& moment);
  ApprovalRow approval_row(const NodeTask& task, const Moment& moment, const std::string& payload,
                           milliseconds expires) const;
  void answer_approval(NodeTask& task, Decided& event);
  void answer_question(NodeTask& task, Decided& event);
  void attach_decision(Decided event);
  // Takes the run for `session`; the commit to come is guarded by the epoch before.
  void take_ownership(const SessionId& session, const Moment& moment);
  void clear_awaiting(Step& step);

  const GraphDefinition& graph_;
  Run& run_;
  TransitionOutput& work_;
  Transition* outer_ = nullptr;
  std::size_t position_ = 0;  // of the outer frame's task
  // The epoch that the commit is guarded by, where this event changes it.
  std::optional<std::uint64_t> guard_epoch_;
  bool to_queue_ = false;                 // what goes on after this event goes on from the queue
  std::optional<std::int64_t> starting_;  // the superstep that start_ready() is at
  // The frame's run, which the outer frame lets go of when it ends.
  std::shared_ptr<Run> kept_;
};

// Whether nothing can move until a person answers or a time has come that lies after `now`.
bool is_blocked(const Run& run, Instant now);
// True if an attempt is running, here or in a subgraph.
bool any_running(const Run& run);
// When the first of what the run waits for is due: a timer, or the expiry of an approval.
std::optional<Instant> first_due(const Run& run);
// Whether a person is asked, here or in a subgraph.
bool has_open_interrupts(const Run& run);
// Whether a timer of the run is due by `now`.
bool any_timer_due(const Run& run, Instant now);
// Whether a task of the run waits for this interrupt.
bool waits_for(const Run& run, const InterruptId& interrupt);
// All interrupts that tasks of the run wait for.
void collect_open_interrupts(const Run& run, std::vector<InterruptId>& asked);
// Has the next Committed look at all tasks that wait.
void note_waiting(Run& run);
// Takes the events of the superstep's attempts, those in subgraphs included, for a commit that ends
// the run before the superstep's own. Records and messages stay: they are the superstep's.
std::vector<NodeEffects::CustomEvent> take_events(Run& run);
// Puts what one task leaves for a commit to what others leave.
void add_effects(NodeEffects& to, NodeEffects&& from);

template <typename T>
void append_all(std::vector<T>& to, std::vector<T>& from) {
  if (to.empty()) {
    to = std::move(from);
  } else {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  }
}

// The names of the tasks' nodes, each once, by commas; "end" for none.
std::string nodes_text(const std::vector<NodeTask>& tasks);

}  // namespace belay::engine
