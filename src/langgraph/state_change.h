#pragma once
// langgraph/state_change.h - what a client asks of the state of a thread and of the place of a run:
// command.update, command.goto, updates of a state, and breakpoints.
//
// Names of LangGraph for the two ends of a graph, "__start__", "__input__" and "__end__", become
// those of Belay.
//
// Threading: values.

#include <optional>

#include "belay/service.h"

namespace belay::langgraph {

struct StateChange {
  Value values;              // an object of channels; null: none
  std::string as_node = {};  // see StateEdit
  std::vector<FirstNode> go_to = {};
};

// The change of a command; nullopt if it has no `update` and no `goto`. An update is an object, or
// a list of pairs of a name and a value. A goto is a name, {"node", "input"}, or a list of both.
Result<std::optional<StateChange>> change_in(const Value& command);
// The change of the body of an update of a state: `values` and `as_node`.
Result<StateChange> update_in(const Value& body);
// Breakpoints of one run: `interrupt_before` and `interrupt_after`, each "*" or a list of nodes.
Result<Breakpoints> breakpoints_in(const Value& body);

// A change with which a run begins that does not wait. The values are the input of the start.
StateEdit edit_of(const StateChange& change);
// The commit from which the run began, instead of the newest one (StateEdit::from).
std::optional<RunCommit> origin_of(const RunRow& run);
// `source` of the first checkpoint of the run: input; update after a change of the state; fork for
// one that continues at an earlier checkpoint.
std::string_view source_of_first(const RunRow& run);

}  // namespace belay::langgraph
