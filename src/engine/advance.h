#pragma once
// engine/advance.h - what happens next in a run, decided without doing it.
//
// advance() is the whole of the engine's judgement, and it performs no I/O. It takes the run as it
// stands and one event, and returns the run after the event and the actions that the driver has to
// carry out. The same run and the same event give the same answer on every machine, for good:
// replay after a crash and the simulator both rest on that.
//
// Whatever can vary - the time, a random number, a model's reply - arrives in the event. If you
// want a clock here, put the time into the event instead.

#include <vector>

#include "engine/event.h"

namespace belay::engine {

struct Advance {
  Run run;                      // the run after the event
  std::vector<Action> actions;  // to be started in this order
};

// Total: an event that no longer applies (a lost timer, a second decision, the reply of a cancelled
// attempt) leaves the run unchanged, with no actions. A graph function that throws, or a state that
// JSON can't say, fails the run with a typed error.
// `run` is used up.
// REQUIRES: the driver hands in no event while a commit is under way, except Committed.
Advance advance(const GraphDefinition& graph, Run&& run, Event event);

}  // namespace belay::engine
