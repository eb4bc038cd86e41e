#pragma once
// server/target.h - the target of a request: its path by segments, and its query by names.

#include "server/route.h"

namespace belay::server {

struct Target {
  std::vector<std::string> segments;  // each decoded: a name may have a slash in it
  StringMap query;
};

// `invalid` for a query that is not percent-encoded UTF-8, and for a name that comes twice in it.
Result<Target> parse_target(const http::Request& request);

// The parameters of the path where `segments` fit the pattern of a route, else nothing.
std::optional<StringMap> match_path(std::string_view pattern,
                                    const std::vector<std::string>& segments);

}  // namespace belay::server
