#pragma once
// client/server_address.h - where a server is, and the addresses of what can be asked there.

#include <string>
#include <string_view>

#include "belay/result.h"

namespace belay::client {

struct ServerAddress {
  std::string base;       // "http://127.0.0.1:8123", or with a path before every request's own
  bool is_local = false;  // a loopback address, which no proxy is asked for
};

// "http://HOST[:PORT][/PATH]" or the same with https. `invalid` for anything else, and for one with
// a name and password in it: the sentence shows neither.
Result<ServerAddress> server_address_from(std::string_view text);

// The path and query of a request, percent-encoded piece by piece.
class Target {
 public:
  // `path` as it is: "/api/threads".
  explicit Target(std::string_view path) : text_(path) {}

  Target& segment(std::string_view name);
  Target& query(std::string_view name, std::string_view value);
  Target& query(std::string_view name, std::uint64_t number);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
  bool has_query_ = false;
};

}  // namespace belay::client
