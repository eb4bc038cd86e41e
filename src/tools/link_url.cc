#include "tools/link_url.h"

#include "base/percent_encoding.h"
#include "base/trimmed.h"

namespace belay::tools {
namespace {

// RFC 3986, section 5.2.4, for an absolute path.
std::string without_dot_segments(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    std::size_t end = path.find('/', 1);
    std::string_view segment = path.substr(0, end);  // with its first slash
    bool is_last = end == path.npos;
    path.remove_prefix(segment.size());
    if (segment == "/.." && !out.empty()) out.resize(out.rfind('/'));
    if (segment != "/." && segment != "/..") {
      out += segment;
    } else if (is_last) {
      out += '/';
    }
  }
  return out;
}

}  // namespace

std::string encoded_url(std::string_view url) {
  constexpr std::string_view never = "\"<>\\^`{|}";
  std::string out;
  for (char c : trimmed(url)) {
    if (c == '\t' || c == '\n' || c == '\r') continue;
    bool is_plain = c > 0x20 && c < 0x7f && never.find(c) == never.npos;
    out += is_plain ? std::string(1, c) : percent_encoded(std::string_view(&c, 1));
  }
  return out;
}

std::optional<net::Target> link_target(const net::Target& base, std::string_view link) {
  link = trimmed(link);
  if (link.empty() || link.starts_with('#') || link.size() > link_bytes_max) return std::nullopt;
  auto target = net::parse_redirect(base, encoded_url(link));
  if (!target.ok()) return std::nullopt;
  std::size_t path_end = target->path.find('?');
  std::string query = path_end == std::string::npos ? "" : target->path.substr(path_end);
  target->path = without_dot_segments(target->path.substr(0, path_end)) + query;
  if (target->url().size() > link_bytes_max) return std::nullopt;
  return *std::move(target);
}

}  // namespace belay::tools
