#pragma once
// server/problem.h - creates error responses, all as application/problem+json (RFC 9457).
//
//     {"type": "about:blank", "title": "Not Found", "status": 404, "code": "not_found",
//      "detail": "Unknown thread \"first\"."}
//
// `code` is one of docs/errors.md, or "http" for an error of HTTP itself. Members are only ever
// added, never removed.

#include "http/message.h"
#include "server/route.h"

namespace belay::server {

// Returns the status for an Error. `unavailable` is 429 if it has a retry delay because a limit is
// reached, otherwise 503.
int status_of(const Error& failed);

// `details` adds members to the document.
http::Response problem(const Error& failed, Value details = {});
http::Response problem(int status, std::string code, std::string detail, Value details = {});

std::string_view reason_of(int status);

}  // namespace belay::server
