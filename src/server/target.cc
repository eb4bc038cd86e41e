#include "server/target.h"

#include <optional>

namespace belay::server {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

Result<Target> parse_target(const http::Request& request) {
  Target parsed;
  parsed.segments = http::path_segments(request.raw_path);
  BELAY_TRY(auto pairs, http::query_parameters(request.query));
  for (auto& [name, value] : pairs) {
    if (!parsed.query.emplace(name, std::move(value)).second) parsed.repeated = name;
  }
  return parsed;
}

std::optional<StringMap> match_path(std::string_view pattern,
                                    const std::vector<std::string>& segments) {
  std::vector<std::string_view> wanted = split(pattern.substr(1), '/');
  if (wanted.size() != segments.size()) return std::nullopt;
  StringMap found;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].starts_with('{')) {
      if (segments[i].empty()) return std::nullopt;
      found.emplace(std::string(wanted[i].substr(1, wanted[i].size() - 2)), segments[i]);
    } else if (wanted[i] != segments[i]) {
      return std::nullopt;
    }
  }
  return found;
}

}  // namespace belay::server
