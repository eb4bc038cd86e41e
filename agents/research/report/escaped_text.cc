#include "agents/research/report/escaped_text.h"

#include <cstdint>

namespace belay::research::report {
namespace {

constexpr char32_t kReplacement = 0xFFFD;
constexpr std::string_view kEllipsis = "…";

struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
};

std::uint8_t byte_at(std::string_view text, std::size_t position) {
  return static_cast<std::uint8_t>(text[position]);
}

// Reads the first character of a text that is not empty. A malformed byte is U+FFFD.
Character first_character(std::string_view text) {
  const std::uint8_t lead = byte_at(text, 0);
  if (lead < 0x80) return {lead, 1};
  std::size_t length = 0;
  char32_t code = 0;
  char32_t least = 0;
  if ((lead & 0xE0) == 0xC0) {
    length = 2, code = lead & 0x1F, least = 0x80;
  } else if ((lead & 0xF0) == 0xE0) {
    length = 3, code = lead & 0x0F, least = 0x800;
  } else if ((lead & 0xF8) == 0xF0) {
    length = 4, code = lead & 0x07, least = 0x10000;
  }
  if (length == 0 || length > text.size()) return {kReplacement, 1};
  for (std::size_t i = 1; i < length; ++i) {
    const std::uint8_t next = byte_at(text, i);
    if ((next & 0xC0) != 0x80) return {kReplacement, 1};
    code = (code << 6) | (next & 0x3F);
  }
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < least || code > 0x10FFFF || is_surrogate) return {kReplacement, 1};
  return {code, length};
}

bool is_blank(char32_t code) {
  return code == ' ' || (code >= '\t' && code <= '\r') || code == 0x85 || code == 0xA0 ||
         code == 0x2028 || code == 0x2029;
}

// Control characters, marks of direction, and characters that are no text in HTML.
bool is_dropped(char32_t code) {
  const bool is_control = code < 0x20 || (code >= 0x7F && code <= 0x9F);
  const bool is_direction = code == 0x061C || code == 0x200E || code == 0x200F ||
                            (code >= 0x202A && code <= 0x202E) ||
                            (code >= 0x2066 && code <= 0x2069);
  const bool is_tag = code >= 0xE0000 && code <= 0xE007F;
  const bool is_no_character =
      (code & 0xFFFE) == 0xFFFE || (code >= 0xFDD0 && code <= 0xFDEF) || code == 0xFEFF;
  return is_control || is_direction || is_tag || is_no_character;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Whether Markdown gives this character a meaning anywhere in a line.
bool is_markup(char c) {
  return std::string_view("\\`*_{}[]#|<>~@$").find(c) != std::string_view::npos;
}

// Returns whether `text[i]` would begin a list, a heading's underline, a link without brackets,
// or an entity.
bool is_markup_here(std::string_view text, std::size_t i) {
  const char c = text[i];
  if (c == '&') return true;
  if (c == ':') return text.substr(i + 1, 2) == "//";
  if (c == '-' || c == '+' || c == '=') return i == 0;
  if (c != '.' && c != ')') return false;
  if (c == '.' && i >= 3) {
    const std::string_view before = text.substr(i - 3, 3);
    if (before == "www" || before == "WWW" || before == "Www") return true;
  }
  for (std::size_t k = 0; k < i; ++k) {
    if (!is_digit(text[k])) return false;
  }
  return i > 0;
}

}  // namespace

std::string clean_text(std::string_view text, std::size_t limit) {
  std::string clean;
  bool wants_space = false;
  while (!text.empty()) {
    const Character character = first_character(text);
    const std::string_view bytes = text.substr(0, character.bytes);
    text.remove_prefix(character.bytes);
    if (is_blank(character.code)) {
      wants_space = !clean.empty();
      continue;
    }
    if (is_dropped(character.code)) continue;
    const std::string_view shown = character.code == kReplacement ? "\xEF\xBF\xBD" : bytes;
    if (clean.size() + shown.size() + 1 > limit) return clean + std::string(kEllipsis);
    if (wants_space) clean += ' ';
    wants_space = false;
    clean += shown;
  }
  return clean;
}

std::string html_text(std::string_view text, std::size_t limit) {
  std::string escaped;
  for (const char c : clean_text(text, limit)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string markdown_text(std::string_view text, std::size_t limit) {
  const std::string clean = clean_text(text, limit);
  std::string escaped;
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const char c = clean[i];
    // Entities instead of a backslash: tools that do not know the escape must not see a tag.
    if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (c == '&') {
      escaped += "&amp;";
    } else {
      if (is_markup(c) || is_markup_here(clean, i)) escaped += '\\';
      escaped += c;
    }
  }
  return escaped;
}

std::string markdown_code(std::string_view text, std::size_t limit) {
  std::string span = "`";
  for (const char c : clean_text(text, limit)) {
    if (c == '|') span += '\\';  // a table's cell would end here
    span += c == '`' ? '\'' : c;
  }
  if (span.size() == 1) span += ' ';
  span += '`';
  return span;
}

}  // namespace belay::research::report
