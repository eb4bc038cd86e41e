#pragma once
// langgraph/v2_commands.h - the commands of the streaming protocol:
//
//   {"id": 1, "method": "run.start", "params": {...}}
//   {"type": "success", "id": 1, "result": {...},
//    "meta": {"thread_id": ..., "applied_through_seq": 7}}
//   {"type": "error", "id": 1, "error": "invalid_argument", "message": ...}
//
//   method                 needs   does
//   run.start              run     starts a run, on a new thread as well (runs.h); if the thread
//                                  waits for a person, the input is the reply
//   input.respond          decide  replies to one interrupt or several
//   input.inject           run     sends a steering message to the run in progress
//   state.get              read    the values of the root, and the newest checkpoint
//                                  of a subgraph in progress: its values and checkpoint
//   state.listCheckpoints  read    the newest checkpoints
//   state.fork             run     starts a run from a checkpoint of the thread, also from the
//                                  newest one, at which a run can wait: it is cancelled
//   agent.getTree          read    the run's own graph and its status
//
// A start counts against the limits of starts (Call::count_start), unless its input is a reply.
//
// `update` and `goto` of input.respond are refused. An unknown checkpoint is no_such_checkpoint.
//
// applied_through_seq: the events with numbers up to this are those of runs that had ended. Clients
// ignore older interrupts. The responses of subscription.* do not contain it.
//
// Threading: on the executor that awaits.

#include "langgraph/agent_server.h"

namespace belay::langgraph {

// Executes the command on the thread. Fails only if a limit rejects it, or the store is
// unavailable: the client can send it again.
Task<Result<Value>> answer_command(AgentServer& served, server::Call call, ThreadId thread,
                                   Value command);

// Whether the method exists over a WebSocket only: it concerns the subscriptions of a connection.
bool is_of_subscriptions(std::string_view method);

// Responses to a command; `id`: of the command, or null.
Value command_success(const Value& id, const ThreadId& thread, Value result,
                      std::optional<std::uint64_t> applied = std::nullopt);
Value command_error(const Value& id, std::string code, std::string message);
Value command_error(const Value& id, const Error& failed);

}  // namespace belay::langgraph
