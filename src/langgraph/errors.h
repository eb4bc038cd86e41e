#pragma once
// langgraph/errors.h - routes of the Agent Server API, and their error responses.
//
//   server::Route route = protocol_route("GET", "/threads/{threadId}", "agentServerGetThread",
//                                        "A thread");
//   route.handle = answering(served, show_thread);  // Task<Result<Reply>> (AgentServer&, Call)
//
// An error of a handler becomes a problem document with three more members that clients of
// LangGraph read: {"detail": text, "message": text, "error": "not_found", ...}. The statuses are
// those of the server: 404, 409, 422, 403, 429, 503.

#include "langgraph/agent_server.h"

namespace belay::langgraph {

using Answer = Task<Result<server::Reply>> (*)(AgentServer& served, server::Call call);

// Returns a route with permission `read`. Its body, if it has one (accept_body()), can have any
// members and any Content-Type; unknown parameters of its query are ignored, and a repeated one has
// its first value in `query`: http::query_parameters(call.request.query) has all of them.
server::Route protocol_route(std::string method, std::string path, std::string id,
                             std::string summary);

// Makes the route accept a JSON object, or no body, which is `{}`. `properties` describes members
// by name: a schema each. Unknown members are accepted.
void accept_body(server::Route& route, Value properties = Value(Value::Object{}),
                 Value::Array required = {});

// Returns a handler that turns errors into the documents above. `served` lives as long as it.
server::Handle answering(AgentServerPointer served, Answer answer);
// The same for a change of a record. When another request has changed the record after it was read,
// the change is made again, at most limits::record_conflicts_max times.
server::Handle changing(AgentServerPointer served, Answer change);

server::Reply error_reply(const Error& failed);
server::Reply error_reply(int status, std::string error_name, std::string message);

// Members of a body: nullopt or null if they are absent or null; `invalid`, naming the member, if
// they have another kind.
Result<std::optional<std::string>> text_member(const Value& body, std::string_view name);
Result<std::optional<bool>> bool_member(const Value& body, std::string_view name);
Result<std::int64_t> int_member(const Value& body, std::string_view name, std::int64_t or_else,
                                std::int64_t least, std::int64_t most);
Result<Value> object_member(const Value& body, std::string_view name);  // {} if absent
Result<std::optional<std::vector<std::string>>> texts_member(const Value& body,
                                                             std::string_view name);

}  // namespace belay::langgraph
