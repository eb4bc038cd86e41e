#pragma once
// http/head_scanner.h - finds the end of a request's head while it comes, and refuses at once what
// no sound head holds.
//
// The parser behind it would forgive some of it (folded lines) and notice some only at a line's end
// that never comes (bare line feeds). Here every byte is looked at once, as it comes, and what two
// readers could understand differently goes no further.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "http/server.h"

namespace belay::http {

// Why the server answers by itself.
struct Refusal {
  int status = 400;
  std::string detail;  // a sentence for the client
};

class HeadScanner {
 public:
  // `limits` outlives the scanner.
  explicit HeadScanner(const ServerLimits& limits) : limits_(limits) {}

  // `head`: what has come of it, from its first byte on; each call's begins with the former one's.
  // Returns the refusal, if there is a reason for one.
  std::optional<Refusal> look(std::string_view head);
  // The bytes of the head with the empty line that ends it; 0 until that has come.
  std::size_t size() const { return size_; }

 private:
  std::optional<Refusal> end_line(std::size_t end);
  std::optional<Refusal> check_size(std::size_t held) const;

  const ServerLimits& limits_;
  std::size_t scanned_ = 0;
  std::size_t line_begin_ = 0;
  std::size_t lines_ = 0;
  std::size_t first_space_ = 0;  // behind the method; 0 until it has come
  std::size_t size_ = 0;
};

}  // namespace belay::http
