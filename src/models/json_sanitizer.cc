#include "models/json_sanitizer.h"

#include <algorithm>
#include <charconv>

#include "base/characters.h"

namespace belay::models {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view replacement_escape = "\\ufffd";
constexpr std::size_t escape_length = 6;  // of \uXXXX

// Returns the code unit of the escape \uXXXX at the start of `text`; nullopt for another escape.
std::optional<unsigned> code_unit(std::string_view text) {
  if (text.size() < escape_length || !text.starts_with("\\u")) return std::nullopt;
  unsigned unit = 0;
  const char* end = text.data() + escape_length;
  auto [read_to, fault] = std::from_chars(text.data() + 2, end, unit, 16);
  if (fault != std::errc() || read_to != end) return std::nullopt;
  return unit;
}

bool is_high_surrogate(unsigned unit) { return unit >= 0xd800 && unit <= 0xdbff; }
bool is_low_surrogate(unsigned unit) { return unit >= 0xdc00 && unit <= 0xdfff; }

// Appends the escape at the start of `text`, replaced if it is not storable. Returns the number of
// bytes that were read.
std::size_t take_escape(std::string_view text, std::string& out) {
  auto unit = code_unit(text);
  if (!unit) {
    // Any other escape has two bytes. An escaped backslash is skipped as a whole, so that \\u0000
    // (a backslash and five characters) is not changed.
    std::size_t length = std::min<std::size_t>(2, text.size());
    out += text.substr(0, length);
    return length;
  }
  if (is_high_surrogate(*unit)) {
    auto low = code_unit(text.substr(escape_length));
    if (low && is_low_surrogate(*low)) {
      out += text.substr(0, 2 * escape_length);
      return 2 * escape_length;
    }
  }
  bool is_sound = *unit != 0 && !is_high_surrogate(*unit) && !is_low_surrogate(*unit);
  out += is_sound ? text.substr(0, escape_length) : replacement_escape;
  return escape_length;
}

std::string with_sound_escapes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::size_t plain = std::min(text.find('\\'), text.size());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (!text.empty()) text.remove_prefix(take_escape(text, out));
  }
  return out;
}

}  // namespace

std::string sanitized_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::size_t sound = std::min(first_invalid_utf8(text).value_or(text.size()), text.find('\0'));
    out += text.substr(0, sound);
    if (sound < text.size()) out += replacement;
    text.remove_prefix(std::min(sound + 1, text.size()));
  }
  return out;
}

Result<Value> parse_sanitized_json(std::string_view text, std::size_t depth_max) {
  std::string sound;
  if (text.find('\0') != text.npos || first_invalid_utf8(text)) text = sound = sanitized_text(text);
  if (text.find("\\u") == text.npos) return parse_json(text, depth_max);
  return parse_json(with_sound_escapes(text), depth_max);
}

std::string quotable(std::string_view text, std::size_t characters) {
  std::string sound = sanitized_text(text.substr(0, 4 * characters + 4));
  std::string out;
  for (char c : sound) {
    bool begins = (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    if (begins && characters-- == 0) return out + "...";
    out += is_control(c) ? ' ' : c;
  }
  return out;
}

}  // namespace belay::models
