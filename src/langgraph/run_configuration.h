#pragma once
// langgraph/run_configuration.h - the configuration of a run: what its nodes read as
// Context::configuration().
//
//   {"configurable": {...}, "context": {...}}
//
// `configurable` is that of the assistant, below that of the thread, below that of the body, with
// the headers x-* of the request and user-agent in lower case (except x-api-key, x-tenant-id,
// x-service-key and names that contain token, secret, auth, cookie, oidc or jwt), and with
// assistant_id, graph_id, thread_id (if the run has a named one), langgraph_auth_user_id and,
// unless it is given, user_id. A client cannot set the first four.
//
// Threading: values.

#include "langgraph/assistants.h"
#include "langgraph/threads.h"

namespace belay::langgraph {

// Adds the configuration and the context of the assistant, and the configuration of the thread, to
// the members of the body, which come before them. `thread`: null: none.
void merge_configuration(Value& body, const Assistant& assistant, const ThreadView* thread);

// Returns the text of the configuration of a run, for RunSettings. `body`: with the merged members.
// `headers`: of the request.
std::string configuration_text(const Value& body, const Assistant& assistant,
                               const ThreadView* thread, const UserId& user,
                               const std::vector<http::Header>& headers);

}  // namespace belay::langgraph
