#pragma once
// driver/completion_order.h - in what order the tasks of a superstep of several are recorded to
// have ended, between two commits of the run too.

#include "driver/recorded_run.h"
#include "engine/event.h"

namespace belay {

class CompletionOrder {
 public:
  // When a task ends, as seen from the commit that is to be replayed next.
  enum class Turn {
    now,       // before that commit
    at_end,    // so too, and as the last of a superstep of a subgraph
    ends_all,  // with that commit, which ends the run's superstep
    later,     // after that commit
  };

  explicit CompletionOrder(const RecordedRun& recorded) : recorded_(recorded) {}

  // Stores of older versions don't say when tasks ended.
  bool is_known() const { return recorded_.has_order; }
  // REQUIRES: the attempt's frame is there.
  Turn turn_of(const engine::Run& run, const engine::AttemptId& attempt,
               const CheckpointRow& next) const;
  // When what is asked is answered; `later` where nobody asks.
  Turn turn_of(const engine::Run& run, const InterruptId& interrupt,
               const CheckpointRow& next) const;
  // Whether more is recorded to have happened before the next commit than the run has seen.
  bool has_more(const engine::Run& run, const CheckpointRow& next) const;
  // Whether some task has yet to ask what it is recorded to have asked by the next commit.
  bool asks_more(const engine::Run& frame, const CheckpointRow& next) const;
  // Timers are due when they are recorded to have fired; those of later commits far from now.
  void set_timers(engine::Run& run, const CheckpointRow& next) const;
  // Of a run that rests: some timer has fired by the next commit.
  void wake(engine::Run& run, const CheckpointRow& next) const;

 private:
  struct Frame {
    const engine::Run& root;
    const engine::Run& run;
    Turn end;  // of the task that it is inside of; for the run itself of its superstep
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
