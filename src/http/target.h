#pragma once
// http/target.h - parses and validates the target and the Host of a request.

#include <string>
#include <string_view>

#include "belay/result.h"

namespace belay::http {

struct Target {
  std::string path;      // decoded: see Request::path
  std::string raw_path;  // as it was sent
  std::string query;     // not decoded
};

// Parses the target of a request. `host` is the value of its Host header, "" if absent: the
// absolute form ("http://HOST/PATH") must name the same host. Fails with `invalid` and a message
// for the client.
Result<Target> parse_target(std::string_view method, std::string_view target,
                            std::string_view host);

// True for a host name or an address, with or without a port.
bool is_host(std::string_view host);

// Decodes %XX. Fails with `invalid` for an invalid sequence, for NUL, and for text that is not
// UTF-8.
Result<std::string> percent_decoded(std::string_view text, bool plus_is_space);

}  // namespace belay::http
