#pragma once
// client/server_address.h - parses the address of a server, and builds the targets of requests.

#include <string>
#include <string_view>

#include "belay/result.h"

namespace belay::client {

struct ServerAddress {
  std::string base;       // "http://127.0.0.1:8123", optionally with a path
  bool is_local = false;  // a loopback address: used without a proxy
};

// Parses "http://HOST[:PORT][/PATH]", or the same with https. Fails with `invalid` for anything
// else, also for an address with a name and password; the message contains neither.
Result<ServerAddress> server_address_from(std::string_view text);

// The path and query of a request; each part is percent-encoded.
class Target {
 public:
  // `path` is used verbatim: "/api/threads".
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
