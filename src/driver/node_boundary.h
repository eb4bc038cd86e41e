#pragma once
// driver/node_boundary.h - calls the code of nodes and receivers, and converts their exceptions.
//
// Failure keeps its Error. Interrupted becomes an InterruptRequest. A std::logic_error is a bug of
// the node: `invalid`. Any other exception becomes `unavailable`, which a retry policy retries: no
// writes of the attempt are kept.

#include <memory>
#include <variant>

#include "belay/graph.h"
#include "belay/runtime.h"
#include "engine/event.h"

namespace belay {

// EffectRow: the row must be committed first; then the node is called again, as the same attempt.
using NodeOutcome = std::variant<NodeUpdate, Error, InterruptRequest, EffectRow>;

// Returns the data of an attempt that its Context exposes. `frame`: that of the subgraph that
// contains the task, or the run itself. All of it follows from stored data, so that a replay yields
// the same. The caller sets the model, the records and the journal.
Context::Attempt attempt_of(const engine::Run& run, const engine::Run& frame,
                            const engine::StartNode& action);

// REQUIRES: node.run_plain.
NodeOutcome run_plain_node(const GraphDefinition::Node& node, const void* state, Context& context);

// The error of an attempt that took longer than the node's timeout. REQUIRES: node.timeout.
Error timed_out(const GraphDefinition::Node& node);
// Nothing can stop a plain node at its timeout: its attempt fails once it has returned. Errors and
// effects that must be committed first are not replaced.
NodeOutcome within_timeout(const GraphDefinition::Node& node, Instant::duration taken,
                           NodeOutcome outcome);

// REQUIRES: node.run_task. Keeps `state` alive; `context` and `node` must outlive the coroutine.
Task<NodeOutcome> run_task_node(const GraphDefinition::Node& node,
                                std::shared_ptr<const void> state, Context& context);

// The same for a receiver of messages. `what` names it in errors. `receiver` must outlive the
// coroutine.
Task<Result<Done>> run_receiver(const Receiver& receiver, OutboxMessage message, std::string what);

}  // namespace belay
