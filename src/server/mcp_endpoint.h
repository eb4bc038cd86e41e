#pragma once
// server/mcp_endpoint.h - McpEndpoint: the agents of a service as tools of MCP, whatever the
// transport (docs/mcp.md).
//
// A tool's call starts a run. A task is a run, and its id is that of the run: every server on the
// store can answer for it. Requests of the modern era depend on nothing but themselves.
//
// Threading: the loop's thread.

#include <map>
#include <string>

#include "server/mcp_message.h"
#include "server/mcp_subscription.h"
#include "server/routes.h"

namespace belay::server {

struct McpOptions {
  // How long tools/call waits for its run: for a client that has tasks, and for another one.
  std::chrono::milliseconds task_after{1'000};
  std::chrono::milliseconds answer_within{50'000};
  // One connection is one client: notifications/cancelled then cancels the run of its call.
  bool has_one_client = false;
  // Open streams of subscriptions/listen, for each user.
  std::size_t subscriptions_max = 16;
};

class McpEndpoint {
 public:
  explicit McpEndpoint(ApiContext& world, McpOptions options = {})
      : world_(world), options_(options), slots_(options.subscriptions_max) {}

  // Handles a message of read_mcp_message(). `call.request`: for its headers, without a transport
  // of HTTP an empty one; `call.start`: set if the message calls a tool, and starts are limited.
  // The reply can be a stream unless the message excludes it.
  Task<McpReply> answer(Call call, McpMessage message);
  // The call of a tool. `fresh`: the thread of a run that the client does not name; empty: a new
  // one.
  Task<McpReply> call_tool(Call& call, const McpMessage& message, ThreadId fresh);

 private:
  Task<McpReply> answer_request(Call& call, const McpMessage& message);
  Task<McpReply> answer_task(Call& call, const McpMessage& message);
  Task<McpReply> list_tools(Call& call, const McpMessage& message);
  Task<McpReply> call_with_progress(Call call, McpMessage message);
  Task<ThreadId> thread_of_call(Call& call, const McpMessage& message, ThreadId fresh);
  Task<Result<RunView>> started(Call& call, const McpMessage& message, std::string agent,
                                ThreadId fresh);
  Task<McpReply> continue_call(Call& call, const McpMessage& message);
  Task<McpReply> get_task(Call& call, const McpMessage& message);
  Task<McpReply> update_task(Call& call, const McpMessage& message);
  Task<McpReply> cancel_task(Call& call, const McpMessage& message);
  Task<McpReply> listen(Call& call, const McpMessage& message);
  Task<Result<Done>> decide_inputs(Call& call, const RunRow& run, Value responses);
  Task<Done> cancel_call(Call& call, const McpMessage& message);
  McpReply reply_of(const RunView& view, const McpMessage& message) const;

  ApiContext& world_;
  const McpOptions options_;
  SubscriptionSlots slots_;
  std::map<std::string, ThreadId> under_way_;  // by the id of the request, if has_one_client
};

}  // namespace belay::server
