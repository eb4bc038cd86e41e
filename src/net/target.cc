// Parses URLs. A second parser that reads the same text differently is the usual way around a
// check: therefore this one is strict, and libcurl receives the URL that it builds from the parts.

#include <algorithm>
#include <charconv>

#include "net/ascii.h"
#include "net/egress.h"

namespace belay::net {
namespace {

constexpr std::size_t kUrlBytesMax = 8 * 1024;
constexpr std::size_t kHostBytesMax = 253;
constexpr std::size_t kLabelBytesMax = 63;
constexpr int kHttpPort = 80;
constexpr int kHttpsPort = 443;

Error malformed(std::string_view expected) {
  return error(ErrorCode::invalid,
               "The URL of an HTTP request is not valid: " + std::string(expected) + ".");
}

// Control characters and white space, which parsers drop or split at; the backslash, which some
// regard as a slash; non-ASCII characters, which IDNA maps to others.
bool is_url_character(char c) { return c > 0x20 && c < 0x7f && c != '\\'; }

bool is_label_character(char c) {
  return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '_';
}

bool is_label(std::string_view label) {
  return !label.empty() && label.size() <= kLabelBytesMax && label.front() != '-' &&
         label.back() != '-' && std::all_of(label.begin(), label.end(), is_label_character);
}

// `host` in lower case. An empty last label, which is a trailing dot, is not a name.
bool is_name(std::string_view host) {
  if (host.size() > kHostBytesMax) return false;
  while (true) {
    std::size_t dot = host.find('.');
    if (!is_label(host.substr(0, dot))) return false;
    if (dot == host.npos) return true;
    host.remove_prefix(dot + 1);
  }
}

// The authority without its port.
Result<Done> set_host(Target& target, std::string_view text) {
  if (text.starts_with('[')) {
    if (!text.ends_with(']')) return malformed("the brackets of its host are not closed");
    target.address = parse_v6(text.substr(1, text.size() - 2));
    if (!target.address) return malformed("its host is not an IPv6 address without a zone");
    target.host = target.address->text();
    return Done{};
  }
  std::string host = lower_case(text);
  if (!is_name(host)) {
    return malformed("expected a host of letters, digits, hyphens and dots, without a last dot");
  }
  if (ends_in_number(host)) {
    target.address = parse_v4(host);
    if (!target.address) return malformed("its host is not an IPv4 address");
    host = target.address->text();
  }
  target.host = std::move(host);
  return Done{};
}

Result<Done> set_port(Target& target, std::string_view text) {
  const char* end = text.data() + text.size();
  int port = 0;
  auto [read_to, fault] = std::from_chars(text.data(), end, port);
  bool is_port = fault == std::errc() && read_to == end && port >= 1 && port <= 65'535;
  if (!is_port || text.size() > 5) return malformed("expected a port from 1 to 65535");
  target.port = port;
  return Done{};
}

Result<Done> set_authority(Target& target, std::string_view text) {
  if (text.find('@') != text.npos) {
    return malformed("it contains a user or a password. Use the header Authorization instead");
  }
  target.port = target.is_https ? kHttpsPort : kHttpPort;
  // A colon inside the brackets belongs to the address.
  std::size_t colon = text.find(':', text.starts_with('[') ? text.find(']') : 0);
  if (text.starts_with('[') && text.find(']') == text.npos) colon = text.npos;
  BELAY_CHECK(set_host(target, text.substr(0, colon)));
  if (colon == text.npos) return Done{};
  return set_port(target, text.substr(colon + 1));
}

bool has_scheme(std::string_view location) {
  std::size_t end = location.find_first_of(":/?#");
  return end != location.npos && end > 0 && location[end] == ':';
}

}  // namespace

std::string Target::origin() const {
  bool is_v6 = address && !address->is_v4();
  std::string text = is_https ? "https://" : "http://";
  text += is_v6 ? "[" + host + "]" : host;
  if (port != (is_https ? kHttpsPort : kHttpPort)) text += ":" + std::to_string(port);
  return text;
}

Result<Target> parse_target(std::string_view url) {
  if (url.size() > kUrlBytesMax) return malformed("it is longer than 8192 bytes");
  if (!std::all_of(url.begin(), url.end(), is_url_character)) {
    return malformed(
        "it contains a character that is not permitted. Percent-encode the path and the query, and "
        "write a host with such characters in its ASCII form (xn--...)");
  }
  std::size_t scheme_end = url.find("://");
  std::string scheme = lower_case(url.substr(0, scheme_end));
  if (scheme_end == url.npos || (scheme != "http" && scheme != "https")) {
    return malformed("expected http://HOST[:PORT]/PATH, or the same with https");
  }
  Target target;
  target.is_https = scheme == "https";
  std::string_view rest = url.substr(scheme_end + 3);
  std::size_t authority_end = std::min(rest.find_first_of("/?#"), rest.size());
  BELAY_CHECK(set_authority(target, rest.substr(0, authority_end)));
  rest.remove_prefix(authority_end);
  rest = rest.substr(0, rest.find('#'));
  target.path = rest.starts_with('/') ? "" : "/";
  target.path += rest;
  return target;
}

Result<Target> parse_redirect(const Target& from, std::string_view location) {
  if (has_scheme(location)) return parse_target(location);
  if (location.starts_with("//")) {
    return parse_target((from.is_https ? "https:" : "http:") + std::string(location));
  }
  std::string path = from.path.substr(0, from.path.find('?'));
  if (location.starts_with('/')) {
    path.clear();
  } else if (!location.starts_with('?') && !location.starts_with('#') && !location.empty()) {
    path.resize(path.rfind('/') + 1);
  } else if (!location.starts_with('?')) {
    path = from.path;
  }
  return parse_target(from.origin() + path + std::string(location));
}

}  // namespace belay::net
