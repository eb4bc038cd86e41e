#pragma once
// http/response.h - formats the head of a response, and the chunks of a stream.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "belay/clock.h"
#include "http/message.h"

namespace belay::http {

// The framing of the body, and whether the connection persists.
struct Framing {
  std::optional<std::size_t> length{};  // Content-Length; unset: no such header
  bool chunked = false;
  bool keep_alive = true;
  bool http_1_0 = false;
};

// Returns the status line and the headers, with the empty line that ends them. `date` is from
// http_date().
std::string head_of(const Response& response, const Framing& framing, std::string_view date);

// True if a response with this status may have a body.
bool has_body(int status);

// Example: "Sun, 06 Nov 1994 08:49:37 GMT".
std::string http_date(Instant instant);

// Return the piece as one chunk, or only the size line before it. REQUIRES: the piece is not empty.
// kLastChunk ends the body.
std::string chunk_of(std::string_view piece);
std::string chunk_head(std::size_t size);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

// Returns an RFC 9457 problem document with the status.
Response problem_response(int status, std::string_view detail);

}  // namespace belay::http
