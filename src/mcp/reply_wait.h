#pragma once
// mcp/reply_wait.h - waits for the reply to a request, under its limits of time; meanwhile passes
// progress on and answers questions.

#include <algorithm>

#include "mcp/connection.h"

namespace belay::mcp {

// The names that messages need.
struct ReplyWait {
  std::string server{};  // ServerOptions::name
  std::string method{};
  std::chrono::milliseconds timeout{0}, timeout_max{0};
  RequestFunctions functions{};

  ReplyWait(std::string server_name, const Request& request)
      : server(std::move(server_name)),
        method(request.method),
        timeout(request.timeout),
        timeout_max(std::max(request.timeout, request.timeout_max)),
        functions(request.functions) {}
};

// Returns the reply that is put into the inbox. `uncertain` if it is late. An exception of
// `on_question` leaves this function. `connection` must live until the end.
Task<Result<Reply>> wait_for_reply(Inbox inbox, ReplyWait wait, Connection& connection);

}  // namespace belay::mcp
