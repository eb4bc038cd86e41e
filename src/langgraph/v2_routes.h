#pragma once
// langgraph/v2_routes.h - the routes of the streaming protocol of @langchain/react:
//
//   POST /threads/{threadId}/commands       one command (v2_commands.h)
//   POST /threads/{threadId}/stream/events  server-sent events of a subscription
//   GET  /threads/{threadId}/stream/events  a WebSocket for both (v2_socket.h)
//
// Threading: handlers run on the loop's thread.

#include "langgraph/agent_server.h"

namespace belay::langgraph {

std::vector<server::Route> v2_routes(const AgentServerPointer& served);

}  // namespace belay::langgraph
