#pragma once
// server/mcp_tasks.h - runs and approvals in the forms of MCP: results of tools, tasks
// (SEP-2663), and requests for input with their responses.

#include "belay/runtime.h"
#include "server/mcp_message.h"

namespace belay::server {

// The tool that is an agent; `agent`: a document of Service::agents().
Value mcp_tool(const Value& agent);

// The result of a tool for a run: its state if it has ended, the reason if it has not, with
// `isError` if it has failed.
Value::Object tool_result(const RunView& view);
// The result for a call that has started nothing.
Value::Object tool_error(const Error& failed);

// True if the run has ended, or is quarantined until an operator retries it.
bool has_result(const RunRow& run);

// The task that is a run: the members that tools/call returns; details are added by tasks/get.
Value::Object task_of(const RunView& view, const McpMessage& message);
void add_details(const RunView& view, const McpMessage& message, Value::Object& task);

// True if the run waits for approvals that the client can receive as requests for input.
bool requires_input(const RunView& view, const McpMessage& message);
// One request per open approval, by its id.
Value input_requests(const RunView& view);

// A response to one of these requests. nullopt: the person has not decided.
Result<std::optional<Decision>> decision_of_input(const Value& response);

}  // namespace belay::server
