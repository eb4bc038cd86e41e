#pragma once
// langgraph/v2_socket.h - the streaming protocol over a WebSocket of a thread.
//
// Messages of the client are commands (v2_commands.h), and:
//   subscription.subscribe    {channels, namespaces, depth, since}: {subscription_id}
//   subscription.unsubscribe  {subscription_id}: {}
//   subscription.reconnect    {restored: false}: a new connection has no subscriptions
// Messages of the server are the responses, in any order, and the events that a subscription
// matches, in the order of their seq. After a change of the subscriptions, the events of the newest
// run are sent again: clients recognise an event by its id.
//
// A command that has started continues when the connection closes. Limits: kSocketCommandsMax
// commands in progress, kSocketSubscriptionsMax subscriptions. Events are read from the store only
// as fast as the client accepts them.
//
// Threading: the loop's thread.

#include "langgraph/agent_server.h"
#include "server/web_socket.h"

namespace belay::langgraph {

inline constexpr std::size_t kSocketCommandsMax = 16;
inline constexpr std::size_t kSocketSubscriptionsMax = 64;

std::unique_ptr<server::WebSocketSession> v2_socket(AgentServerPointer served, server::Call call,
                                                    ThreadId thread);

}  // namespace belay::langgraph
