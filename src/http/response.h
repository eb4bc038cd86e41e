#pragma once
// http/response.h - the head of an answer, and the frame around the pieces of a stream.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "belay/clock.h"
#include "http/message.h"

namespace belay::http {

// How the body is sent, and what becomes of the connection.
struct Framing {
  std::optional<std::size_t> length{};  // its Content-Length; unset where there is no such header
  bool chunked = false;
  bool keep_alive = true;
  bool http_1_0 = false;
};

// The status line and the headers, with the empty line behind them. `date` is http_date()'s.
std::string head_of(const Response& response, const Framing& framing, std::string_view date);

// Whether an answer of this status may have a body.
bool has_body(int status);

// "Sun, 06 Nov 1994 08:49:37 GMT"
std::string http_date(Instant instant);

// Return the piece as one chunk, or only the size line before it; REQUIRES: it is not empty.
// kLastChunk ends the body.
std::string chunk_of(std::string_view piece);
std::string chunk_head(std::size_t size);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

// An RFC 9457 problem document of that status.
Response problem_response(int status, std::string_view detail);

}  // namespace belay::http
