#pragma once
// models/error_response.h - what a provider's own error comes to: what the caller may do about it.
//
// The three providers say an error as {"error": "text"}, {"error": {message, type, code}} and
// {"type": "error", "error": {type, message}}, with a status before the answer or, once a stream
// has begun, as one of its events. Proxies before them say it in HTML. The type counts before the
// status, since servers differ in the latter; `x-should-retry` counts before both.

#include "models/protocol.h"

namespace belay::models {

struct ErrorResponse {
  int status = 0;  // 0: in the midst of a stream
  std::string_view body;
  std::string_view retry_after;  // headers; empty where there are none
  std::string_view retry_after_ms;
  std::string_view should_retry;
};

Error error_of(const Server& server, const ErrorResponse& answer, Instant now);

// The error that an event of a stream tells; nothing where it tells none.
std::optional<Error> error_in(const Server& server, const Value& event);

}  // namespace belay::models
