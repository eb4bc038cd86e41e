#pragma once
// replay/completion_order.h - the recorded order in which the tasks of a superstep completed.
//
// It includes the order of tasks that completed between two commits of the run.

#include "engine/event.h"
#include "replay/recorded_run.h"

namespace belay {

class CompletionOrder {
 public:
  // The time at which a task ends, relative to the commit that is replayed next.
  enum class Turn {
    now,       // before that commit
    at_end,    // before it, as the last task of a subgraph's superstep
    ends_all,  // with that commit, which ends the run's superstep
    later,     // after that commit
  };

  explicit CompletionOrder(const RecordedRun& recorded) : recorded_(recorded) {}

  // False for runs of older versions of Belay, which did not record when tasks ended.
  bool is_known() const { return recorded_.has_order; }
  // REQUIRES: the frame of the attempt exists.
  Turn turn_of(const engine::Run& run, const engine::AttemptId& attempt,
               const CheckpointRow& next) const;
  // The time of the decision on an interrupt; `later` if no task waits for it.
  Turn turn_of(const engine::Run& run, const InterruptId& interrupt,
               const CheckpointRow& next) const;
  // True if the recording has more events before the next commit than the run has received.
  bool has_more(const engine::Run& run, const CheckpointRow& next) const;
  // True if a task has not yet raised all interrupts that are recorded up to the next commit.
  bool asks_more(const engine::Run& frame, const CheckpointRow& next) const;
  // Sets the due times of timers: those that fired before the next commit are due at that commit,
  // the others in the distant future.
  void set_timers(engine::Run& run, const CheckpointRow& next) const;
  // Makes the timers of a paused run due: one of them has fired by the next commit.
  void wake(engine::Run& run, const CheckpointRow& next) const;

 private:
  struct Frame {
    const engine::Run& root;
    const engine::Run& run;
    Turn end;  // of the subgraph task that contains it; for the run itself, of its superstep
  };
  Turn turn_in(const Frame& frame, const engine::NodeTask& task, const CheckpointRow& next) const;
  Turn turn_asked(const Frame& frame, const InterruptId& interrupt,
                  const CheckpointRow& next) const;
  bool has_more_in(const engine::Run& root, const engine::Run& frame,
                   const CheckpointRow& next) const;
  bool has_asked_more(const engine::NodeTask& task, const CheckpointRow& next) const;
  void set_timers_in(const Frame& frame, engine::Run& run, const CheckpointRow& next) const;

  const RecordedRun& recorded_;
};

}  // namespace belay
