#pragma once
// mcp/session.h - agrees with a server on the revision of the protocol, and sends requests in it.

#include <memory>

#include "belay/mcp.h"
#include "mcp/connection.h"

namespace belay::mcp {

inline constexpr std::string_view modern_version = "2026-07-28";

struct Session {
  std::shared_ptr<Connection> connection{};
  Dialect dialect{};
  ServerInfo info{};
  bool has_elicitation = false;  // the client's capability, which the modern era repeats
};

// Determines the revision, and listens for changes if the server announces them. `is_legacy`: the
// handshake of the older era is used without a question, because the server is known to speak only
// that. Fails with `invalid` if there is no common one.
Task<Result<Session>> begin_session(std::shared_ptr<Connection> connection,
                                    const ServerOptions& options, bool is_legacy);

// Sends a request and returns its result. A fault of the server is an Error of code `invalid`,
// except a refusal for headers that do not match, which sets `headers_differ`.
Task<Result<Value>> ask(Session session, Request request, bool* headers_differ = nullptr);

// Sends a request in the background; its result is ignored.
void post(const Session& session, Request request);

}  // namespace belay::mcp
