#pragma once
// http/head_scanner.h - HeadScanner: finds the end of a request's head, and rejects invalid heads
// at the first invalid byte.
//
// The parser behind it accepts some invalid heads (folded lines), and detects some only at the end
// of a line, which might never arrive (bare line feeds). The scanner examines every byte once, as
// it arrives; input that two parsers could interpret differently is rejected.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "http/server.h"

namespace belay::http {

// The reason for which the server itself responds.
struct Refusal {
  int status = 400;
  std::string detail;  // message for the client
};

class HeadScanner {
 public:
  // `limits` must outlive the scanner.
  explicit HeadScanner(const ServerLimits& limits) : limits_(limits) {}

  // `head`: the bytes of the head received so far; each call extends that of the previous one.
  // Returns a refusal if the head must be rejected.
  std::optional<Refusal> look(std::string_view head);
  // Returns the length of the head including the empty line that ends it; 0 until that has arrived.
  std::size_t size() const { return size_; }

 private:
  std::optional<Refusal> end_line(std::size_t end);
  std::optional<Refusal> check_size(std::size_t held) const;

  const ServerLimits& limits_;
  std::size_t scanned_ = 0;
  std::size_t line_begin_ = 0;
  std::size_t lines_ = 0;
  std::size_t first_space_ = 0;  // index after the method; 0 until known
  std::size_t size_ = 0;
};

}  // namespace belay::http
