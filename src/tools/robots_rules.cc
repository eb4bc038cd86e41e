#include "tools/robots_rules.h"

#include <algorithm>

#include "base/percent_encoding.h"
#include "base/trimmed.h"
#include "net/ascii.h"

namespace belay::tools {
namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
constexpr std::string_view robots_path = "/robots.txt";

bool is_token_character(char c) {
  char small = net::lower(c);
  return (small >= 'a' && small <= 'z') || c == '_' || c == '-';
}

// The value of a hexadecimal digit; -1 for another character.
int robots_hex_value(char c) {
  if (net::is_digit(c)) return c - '0';
  char small = net::lower(c);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

// Brings the spellings of a path into one form (section 2.2.2): decodes what needs no encoding, and
// encodes all that is not a character of URLs. In a query, ":" and "/" need none. `literal`
// contains the characters that have a meaning in rules, and are therefore encoded in paths.
std::string normalized(std::string_view text, std::string_view literal) {
  std::string out;
  out.reserve(text.size());
  bool is_query = false;
  while (!text.empty()) {
    char c = text.front();
    int high = c == '%' && text.size() > 2 ? robots_hex_value(text[1]) : -1;
    int low = high >= 0 ? robots_hex_value(text[2]) : -1;
    bool was_encoded = low >= 0;
    if (was_encoded) c = static_cast<char>(high * 16 + low);
    text.remove_prefix(was_encoded ? 3 : 1);
    if (c == '?' && !was_encoded) is_query = true;
    std::string encoded = percent_encoded(std::string_view(&c, 1));
    bool is_plain_in_query = is_query && (c == ':' || c == '/');
    bool is_url_character = c > 0x20 && c < 0x7f && c != '%' && literal.find(c) == literal.npos;
    if (encoded.size() == 1 || is_plain_in_query || (!was_encoded && is_url_character)) {
      out += c;
    } else {
      out += encoded;
    }
  }
  return out;
}

// Without the last line of a longer file, whose beginning could be another rule.
std::string_view readable_part(std::string_view text) {
  if (text.size() <= robots_bytes_max) return text;
  text = text.substr(0, robots_bytes_max);
  return text.substr(0, text.find_last_of("\r\n") + 1);
}

// Removes the next line from `text`, and returns it without its comment and its end.
std::string_view take_robots_line(std::string_view& text) {
  std::size_t end = text.find_first_of("\r\n");
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return line.substr(0, line.find('#'));
}

}  // namespace

std::string_view product_token(std::string_view user_agent) {
  auto end = std::find_if_not(user_agent.begin(), user_agent.end(), is_token_character);
  return user_agent.substr(0, static_cast<std::size_t>(end - user_agent.begin()));
}

RobotsRules::Rule RobotsRules::rule_of(std::string_view pattern, bool permits) {
  Rule rule;
  rule.permits = permits;
  rule.is_anchored = pattern.ends_with('$');
  if (rule.is_anchored) pattern.remove_suffix(1);
  rule.pattern = normalized(pattern, "$");
  return rule;
}

RobotsRules RobotsRules::from(std::string_view text, std::string_view product) {
  RobotsRules own;
  RobotsRules common;
  bool has_own = false;
  bool is_own = false;     // the group names the product
  bool is_common = false;  // the group names "*"
  bool has_rules = false;  // the group does: another user-agent line begins the next group
  text = readable_part(text);
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  while (!text.empty()) {
    std::string_view line = take_robots_line(text);
    std::size_t colon = line.find(':');
    if (colon == line.npos) continue;
    std::string name = net::lower_case(trimmed(line.substr(0, colon)));
    std::string_view value = trimmed(line.substr(colon + 1));
    if (name == "user-agent") {
      if (has_rules) is_own = is_common = has_rules = false;
      bool names_product = !product.empty() && net::lower_case(product_token(value)) ==
                                                   net::lower_case(product_token(product));
      is_own = is_own || names_product;
      has_own = has_own || names_product;
      is_common = is_common || value.starts_with('*');
    } else if (name == "allow" || name == "disallow") {
      has_rules = true;
      if (value.empty()) continue;
      if (is_own) own.rules_.push_back(rule_of(value, name == "allow"));
      if (is_common && !has_own) common.rules_.push_back(rule_of(value, name == "allow"));
    }
  }
  return has_own ? own : common;
}

// Finds each part between two "*" as early as possible, and the last one of an anchored rule at the
// end.
bool RobotsRules::matches(const Rule& rule, std::string_view path) {
  std::string_view pattern = rule.pattern;
  std::size_t star = pattern.find('*');
  std::string_view part = pattern.substr(0, star);
  if (!path.starts_with(part)) return false;
  path.remove_prefix(part.size());
  if (star == pattern.npos) return !rule.is_anchored || path.empty();
  while (true) {
    pattern.remove_prefix(star + 1);
    star = pattern.find('*');
    part = pattern.substr(0, star);
    if (star == pattern.npos && rule.is_anchored) return path.ends_with(part);
    std::size_t at = path.find(part);
    if (at == path.npos) return false;
    path.remove_prefix(at + part.size());
    if (star == pattern.npos) return true;
  }
}

bool RobotsRules::permits(std::string_view path) const {
  std::string target = normalized(path, "*$");
  if (target == robots_path) return true;
  const Rule* best = nullptr;
  for (const Rule& rule : rules_) {
    std::size_t least = best ? best->pattern.size() + (best->is_anchored ? 1 : 0) : 0;
    std::size_t length = rule.pattern.size() + (rule.is_anchored ? 1 : 0);
    bool is_better = !best || length > least || (length == least && rule.permits);
    if (is_better && matches(rule, target)) best = &rule;
  }
  return !best || best->permits;
}

}  // namespace belay::tools
