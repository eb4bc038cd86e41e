#pragma once
// server/problem.h - the one shape of all errors: application/problem+json (RFC 9457).
//
//     {"type": "about:blank", "title": "Not Found", "status": 404, "code": "not_found",
//      "detail": "There is no thread \"first\"."}
//
// `code` is one of docs/errors.md, or "http" for what HTTP itself is wrong about. Members are only
// ever added.

#include "http/message.h"
#include "server/route.h"

namespace belay::server {

// What an Error comes to as a status. `unavailable` is 503, or 429 where it says when to come
// again because a limit is reached.
int status_of(const Error& failed);

// `details` adds members to the document.
http::Response problem(const Error& failed, Value details = {});
http::Response problem(int status, std::string code, std::string detail, Value details = {});

std::string_view reason_of(int status);

}  // namespace belay::server
