#pragma once
// mcp/call_flow.h - one call of a tool until its result: rounds of input, and a task that the
// server finishes in the background.

#include <functional>

#include "mcp/session.h"

namespace belay::mcp {

struct CallSetting {
  const ServerOptions& options;
  std::string tool;
  InputFunction on_input;  // null: none
  // Returns the session that is usable now.
  std::function<Task<Result<Session>>()> reopen;
};

// Sends the request, which is one of tools/call, and returns its result. A call that has started is
// not sent again: `unavailable` only if its first request was not handled. `headers_differ`: as for
// ask(), of the first request.
Task<Result<CallResult>> perform_call(CallSetting setting, Session session, Request request,
                                      bool* headers_differ);

}  // namespace belay::mcp
