#pragma once
// http/target.h - what a request asks for: its target and its Host, taken apart and checked.

#include <string>
#include <string_view>

#include "belay/result.h"

namespace belay::http {

struct Target {
  std::string path;      // decoded, as Request::path says
  std::string raw_path;  // as it was sent
  std::string query;     // undecoded
};

// Takes a request's target apart. `host` is the value of its Host header, "" where it has none: the
// absolute form ("http://HOST/PATH") has to name that same host. Fails with `invalid` and the
// sentence for the client.
Result<Target> parse_target(std::string_view method, std::string_view target,
                            std::string_view host);

// Whether it is a name or an address, with a port or without.
bool is_host(std::string_view host);

// Undoes %XX. Fails with `invalid` for a broken one, for NUL, and for what is no UTF-8.
Result<std::string> percent_decoded(std::string_view text, bool plus_is_space);

}  // namespace belay::http
