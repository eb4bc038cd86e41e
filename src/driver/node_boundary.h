#pragma once
// driver/node_boundary.h - where a node's code is called, and what it throws becomes data.
//
// Failure keeps its Error. Interrupted becomes a question. A std::logic_error is a bug of the node:
// `invalid`. Any other exception counts as `unavailable`: nothing of the attempt is kept, so a node
// with a retry policy is tried again.

#include <memory>
#include <variant>

#include "belay/graph.h"
#include "belay/runtime.h"
#include "engine/event.h"

namespace belay {

// An EffectRow is to be recorded before the node runs again, as the same attempt.
using NodeOutcome = std::variant<NodeUpdate, Error, InterruptRequest, EffectRow>;

// What an attempt sees of its run, `frame` being the subgraph that it is in or the run itself. All
// of it follows from what is recorded, so that a replay gives the node the same. Model, records and
// journal are the caller's to fill in.
Context::Attempt attempt_of(const engine::Run& run, const engine::Run& frame,
                            const engine::StartNode& action);

// REQUIRES: node.run_plain.
NodeOutcome run_plain_node(const GraphDefinition::Node& node, const void* state, Context& context);

// REQUIRES: node.run_task. Keeps `state` alive; `context` and `node` outlive the task.
Task<NodeOutcome> run_task_node(const GraphDefinition::Node& node,
                                std::shared_ptr<const void> state, Context& context);

// The same for a receiver of messages: `what` names it in the error. `receiver` outlives the task.
Task<Result<Done>> run_receiver(const Receiver& receiver, OutboxMessage message, std::string what);

}  // namespace belay
