// The functions for texts in a terminal of belay/output.h.

#include "cli/output.h"

#include <algorithm>

namespace belay {
namespace {

// Returns the length of the first character if it changes the direction of a line: U+061C, U+200E,
// U+200F, U+202A to U+202E, U+2066 to U+2069. Names with them resemble other names.
std::size_t direction_bytes(std::string_view text) {
  auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.size() >= 2 && at(0) == 0xD8 && at(1) == 0x9C) return 2;
  if (text.size() < 3 || at(0) != 0xE2) return 0;
  bool is_mark = at(1) == 0x80 && (at(2) == 0x8E || at(2) == 0x8F);
  bool is_embedding = at(1) == 0x80 && at(2) >= 0xAA && at(2) <= 0xAE;
  bool is_isolate = at(1) == 0x81 && at(2) >= 0xA6 && at(2) <= 0xA9;
  return is_mark || is_embedding || is_isolate ? 3 : 0;
}

template <typename Replaced>
std::string replace_directions(std::string_view text, Replaced replaced) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::size_t bytes = direction_bytes(text);
    if (bytes == 0) {
      out += text.front();
      text.remove_prefix(1);
      continue;
    }
    out += replaced(text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  return out;
}

std::string escaped_direction(std::string_view character) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]) & 0x3Fu; };
  unsigned code =
      character.size() == 2
          ? (static_cast<unsigned char>(character[0]) & 0x1Fu) << 6 | byte(1)
          : (static_cast<unsigned char>(character[0]) & 0x0Fu) << 12 | byte(1) << 6 | byte(2);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) text += kDigits[code >> shift & 0xFu];
  return text;
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

void append_wrapped(std::string_view line, std::size_t width, std::string_view indent,
                    std::string& out) {
  std::size_t used = 0;
  out += indent;
  while (!line.empty()) {
    std::size_t end = std::min(line.find(' '), line.size());
    std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    if (word.empty()) continue;
    if (used > 0 && used + 1 + columns(word) > width) {
      out += '\n';
      out += indent;
      used = 0;
    }
    if (used > 0) out += ' ';
    out += word;
    used += columns(word) + (used > 0 ? 1 : 0);
  }
  out += '\n';
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string line(text);
  for (std::size_t i = 0; i < line.size(); ++i) {
    auto byte = static_cast<unsigned char>(line[i]);
    if (byte < 0x20 || byte == 0x7F) line[i] = ' ';
    // U+0080 to U+009F: some terminals interpret them as the start of a control sequence.
    bool second_set =
        byte == 0xC2 && i + 1 < line.size() && static_cast<unsigned char>(line[i + 1]) < 0xA0;
    if (second_set) line[i] = line[i + 1] = ' ';
  }
  return cli::without_directions(line);
}

std::string wrapped(std::string_view text, int width, std::string_view indent) {
  std::size_t room = static_cast<std::size_t>(width) > columns(indent) + 20
                         ? static_cast<std::size_t>(width) - columns(indent)
                         : 20;
  std::string out;
  while (true) {
    std::size_t stop = text.find('\n');
    append_wrapped(one_line(text.substr(0, stop)), room, indent, out);
    if (stop == text.npos || stop + 1 == text.size()) return out;
    text.remove_prefix(stop + 1);
  }
}

std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  for (char c : text) count += is_continuation(c) ? 0 : 1;
  return count;
}

std::string padded(std::string_view text, std::size_t width) {
  std::size_t used = columns(text);
  return std::string(text) + std::string(used < width ? width - used : 0, ' ');
}

std::string shortened(std::string_view text, std::size_t width, std::string_view ellipsis) {
  std::string line = one_line(text);
  if (columns(line) <= width) return line;
  std::size_t keep = width - std::min(width, columns(ellipsis));
  std::size_t bytes = 0;
  while (bytes < line.size()) {
    std::size_t next = bytes + 1;
    while (next < line.size() && is_continuation(line[next])) ++next;
    if (keep == 0) break;
    --keep;
    bytes = next;
  }
  return line.substr(0, bytes) + std::string(ellipsis);
}

namespace cli {

std::string without_directions(std::string_view text) {
  return replace_directions(text, [](std::string_view) { return "\xEF\xBF\xBD"; });
}

std::string with_escaped_directions(std::string_view text) {
  return replace_directions(text, escaped_direction);
}

}  // namespace cli
}  // namespace belay
