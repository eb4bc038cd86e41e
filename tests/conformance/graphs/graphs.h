#pragma once
// tests/conformance/graphs/graphs.h - the graphs, as JSON graphs: their names, nodes, channels and
// texts are those that suites for servers of LangGraph expect.
//
//   agent           agent -> tool -> agent: answers "begin", then "end"; can sleep and interrupt
//   agent_simple    the same, with a Send to `tool`
//   weather         a subgraph that stops before its last node
//   nested          a subgraph in a subgraph
//   error           fails after a second
//   delay           waits for `delay` milliseconds
//   dynamic         writes the name of its node, or configurable.nodeName
//   simple_runtime  writes the model of its context
//
// Differences from the graphs of LangGraph, because the interface of graphs does not have the
// means:
//   - Names of nodes do not depend on a configuration: `dynamic` has the node `default`, which
//     writes configurable.nodeName.
//   - A breakpoint cannot be inside a subgraph. `weather` interrupts in `weather_node` instead,
//     and its state therefore shows an interrupt.
//   - Nodes cannot read or write the items of a client's store. `sharedStateValue` and
//     `sharedStateFromStoreConfig` remain null, and there is no node `checkSharedState`.
//   - The name of an error is the beginning of its message: "CustomError: Boo!".
//   - A custom event is returned with the commit of its node, not while the node runs.

#include "belay/json_graph.h"
#include "belay/module.h"

namespace belay::conformance {

Result<JsonGraph> agent_graph();
Result<JsonGraph> agent_simple_graph();
Result<JsonGraph> weather_graph();
Result<JsonGraph> nested_graph();
Result<JsonGraph> error_graph();
Result<JsonGraph> delay_graph();
Result<JsonGraph> dynamic_graph();
Result<JsonGraph> simple_runtime_graph();

// All of them.
Result<Definitions> graphs();

}  // namespace belay::conformance
