#include "http/target.h"

#include <algorithm>

#include "belay/value.h"
#include "http/ascii.h"
#include "http/message.h"

namespace belay::http {
namespace {

int hex_digit(char letter) {
  if (is_digit(letter)) return letter - '0';
  char small = lower(letter);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

Error bad(std::string sentence) { return error(ErrorCode::invalid, std::move(sentence)); }

bool has_dot_segment(std::string_view path) {
  while (!path.empty()) {
    path.remove_prefix(1);
    std::string_view segment = path.substr(0, path.find('/'));
    if (segment == "." || segment == "..") return true;
    path.remove_prefix(segment.size());
  }
  return false;
}

// Example: "/a/b?x=1".
Result<Target> parse_origin_form(std::string_view target) {
  std::size_t mark = target.find('?');
  Target parsed;
  parsed.raw_path = target.substr(0, mark);
  if (mark != target.npos) parsed.query = target.substr(mark + 1);
  BELAY_TRY(parsed.path, percent_decoded(parsed.raw_path, false));
  if (has_dot_segment(parsed.path)) {
    return bad("The path of the request contains a segment \".\" or \"..\". Resolve it first.");
  }
  return parsed;
}

}  // namespace

Result<std::string> percent_decoded(std::string_view text, bool plus_is_space) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      decoded.push_back(' ');
      continue;
    }
    if (text[i] != '%') {
      decoded.push_back(text[i]);
      continue;
    }
    bool whole = text.size() - i > 2;
    int high = whole ? hex_digit(text[i + 1]) : -1;
    int low = whole ? hex_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0) {
      return bad("A % in the target of the request is not followed by two hexadecimal digits.");
    }
    decoded.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  if (decoded.find('\0') != decoded.npos) return bad("The target of the request contains %00.");
  if (first_invalid_utf8(decoded))
    return bad("The decoded target of the request is not valid UTF-8.");
  return decoded;
}

bool is_host(std::string_view host) {
  std::size_t name_end = host.find(':');
  if (host.starts_with('[')) {  // an IPv6 address
    std::size_t close = host.find(']');
    if (close == host.npos || close < 3) return false;
    auto belongs = [](char letter) {
      return hex_digit(letter) >= 0 || letter == ':' || letter == '.';
    };
    if (!std::all_of(host.begin() + 1, host.begin() + static_cast<std::ptrdiff_t>(close), belongs))
      return false;
    name_end = close + 1 == host.size() ? host.npos : close + 1;
  } else {
    auto belongs = [](char letter) {
      return is_letter_or_digit(letter) ||
             std::string_view("-._~!$&'()*+,;=%").find(letter) != std::string_view::npos;
    };
    std::string_view name = host.substr(0, name_end);
    if (name.empty() || !std::all_of(name.begin(), name.end(), belongs)) return false;
  }
  if (name_end == host.npos) return true;
  if (host[name_end] != ':') return false;
  std::string_view port = host.substr(name_end + 1);
  return port.size() <= 5 && std::all_of(port.begin(), port.end(), is_digit);
}

Result<Target> parse_target(std::string_view method, std::string_view target,
                            std::string_view host) {
  auto is_visible = [](char letter) { return letter > ' ' && letter < 0x7f && letter != '#'; };
  if (!std::all_of(target.begin(), target.end(), is_visible)) {
    return bad("The target of the request contains a character that must be encoded as %XX.");
  }
  if (target.starts_with('/')) return parse_origin_form(target);
  if (target == "*" && method == "OPTIONS") {
    return Target{.path = "*", .raw_path = "*", .query = ""};
  }
  std::size_t scheme = target.find("://");
  bool is_absolute = scheme != target.npos && method != "CONNECT" &&
                     (equal_letters(target.substr(0, scheme), "http") ||
                      equal_letters(target.substr(0, scheme), "https"));
  if (!is_absolute) return bad("The request's target does not begin with '/'.");
  std::string_view rest = target.substr(scheme + 3);
  std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
  rest.remove_prefix(authority.size());
  if (!is_host(authority) || (!host.empty() && !equal_letters(authority, host))) {
    return bad("The target and the Host header of the request name different hosts.");
  }
  std::string path = rest.starts_with('/') ? "" : "/";
  path.append(rest);
  return parse_origin_form(path);
}

std::vector<std::string> path_segments(std::string_view raw_path) {
  std::vector<std::string> segments;
  if (raw_path.starts_with('/')) raw_path.remove_prefix(1);
  while (true) {
    std::size_t slash = raw_path.find('/');
    segments.push_back(percent_decoded(raw_path.substr(0, slash), false).value_or(""));
    if (slash == raw_path.npos) return segments;
    raw_path.remove_prefix(slash + 1);
  }
}

Result<std::vector<std::pair<std::string, std::string>>> query_parameters(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> parameters;
  while (!query.empty()) {
    std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    if (pair.empty()) continue;
    std::size_t equals = std::min(pair.find('='), pair.size());
    BELAY_TRY(std::string name, percent_decoded(pair.substr(0, equals), true));
    pair.remove_prefix(std::min(pair.size(), equals + 1));
    BELAY_TRY(std::string value, percent_decoded(pair, true));
    parameters.emplace_back(std::move(name), std::move(value));
  }
  return parameters;
}

}  // namespace belay::http
