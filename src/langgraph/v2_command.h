#pragma once
// langgraph/v2_command.h - a command of the streaming protocol in execution, and the functions of
// its methods (v2_commands.h lists them).
//
// Threading: on the executor that awaits.

#include "langgraph/agent_server.h"

namespace belay::langgraph {

// A command, with the call whose caller and headers it has.
struct V2Command {
  server::Call call;
  ThreadId thread;
  Value params;
  // Of the error that the method returns; empty: the one of its ErrorCode.
  std::string_view code = {};
};

// `forbidden` if the caller lacks the permission.
Result<Done> need(const server::Call& call, Permission permission);
// Counts a start against the limits. `unavailable` above one of them.
Task<Result<Done>> count_start(server::Call& call);
// Copies the member of the parameters, unless it is null.
void copy_member(const Value& params, std::string_view name, Value::Object& body);

// Sets the code no_such_checkpoint unless the thread has this checkpoint.
Task<Result<Done>> note_checkpoint(AgentServer& served, V2Command& command, std::string id);

// state.get, state.listCheckpoints and state.fork.
Task<Result<Value>> state_by_command(AgentServer& served, V2Command& command);
Task<Result<Value>> checkpoints_by_command(AgentServer& served, V2Command& command);
Task<Result<Value>> fork_by_command(AgentServer& served, V2Command& command);

}  // namespace belay::langgraph
