#pragma once
// server/target.h - parses the target of a request: the segments of its path, and its query.

#include "server/route.h"

namespace belay::server {

struct Target {
  std::vector<std::string> segments;  // decoded: a name can contain a slash
  StringMap query;                    // of a repeated name: the first value
  std::string repeated;               // a name that the query contains twice; empty: none
};

// Fails with `invalid` if the query is not percent-encoded UTF-8.
Result<Target> parse_target(const http::Request& request);

// Returns the path parameters if `segments` match the pattern of a route, otherwise nullopt.
std::optional<StringMap> match_path(std::string_view pattern,
                                    const std::vector<std::string>& segments);

}  // namespace belay::server
