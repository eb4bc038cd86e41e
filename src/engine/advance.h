#pragma once
// engine/advance.h - advance(): computes the next state of a run and the actions that follow.
//
// advance() makes every decision of the engine and performs no I/O. It takes a run and one event,
// and returns the run after the event and the actions that the driver must perform. The result
// depends only on the run and the event, on every machine and permanently: recovery after a crash,
// replay and the simulator rely on that.
//
// All input that can vary, such as the time, a random number or a model's reply, is part of the
// event. If you need a clock here, add the time to the event instead.

#include <vector>

#include "engine/event.h"

namespace belay::engine {

struct Advance {
  Run run;                      // the run after the event
  std::vector<Action> actions;  // to be performed in this order
};

// Accepts any event for any run: if it no longer applies (an obsolete timer, a second decision, the
// reply of a cancelled attempt), the run remains unchanged and there are no actions. If a graph
// function throws, or a state cannot be represented as JSON, the run fails with a typed error.
// Consumes `run`. REQUIRES: while a commit is in progress, the driver passes in no event except
// Committed.
Advance advance(const GraphDefinition& graph, Run&& run, Event event);

}  // namespace belay::engine
