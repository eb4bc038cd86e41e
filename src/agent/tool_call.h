#pragma once
// agent/tool_call.h - executes one call of a tool, in its own task of the run.

#include "belay/agent.h"

namespace belay::agents {

// Waits for the approval that the call needs, executes it with the guarantee of its class, and
// returns the result for the model. Fails with `unavailable` if the task must be retried; throws as
// Context::interrupt() does. `tools` and the options must outlive the task.
Task<Result<ToolResult>> execute_call(const ToolCall& call, const AgentState& state,
                                      const AgentOptions& options, const ToolRegistry& tools,
                                      Context& context);

}  // namespace belay::agents
