#pragma once
// models/error_response.h - maps a provider's error response to an ErrorCode and a remedy.
//
// The three providers format an error as {"error": "text"}, {"error": {message, type, code}} and
// {"type": "error", "error": {type, message}}: as a response with an error status or, after a
// stream has started, as one of its events. Proxies in front of them return HTML. The error's type
// has precedence over the status, because servers use different statuses; `x-should-retry` has
// precedence over both.

#include "models/protocol.h"

namespace belay::models {

struct ErrorResponse {
  int status = 0;  // 0: an event of a stream
  std::string_view body;
  std::string_view retry_after;  // headers; empty if missing
  std::string_view retry_after_ms;
  std::string_view should_retry;
};

Error error_of(const Server& server, const ErrorResponse& answer, Instant now);

// Returns the error that an event of a stream contains; nullopt if it contains none.
std::optional<Error> error_in(const Server& server, const Value& event);

}  // namespace belay::models
