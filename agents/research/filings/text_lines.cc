#include "agents/research/filings/text_lines.h"

#include <algorithm>
#include <cstdint>

namespace belay::research {
namespace {

constexpr std::string_view kNoBreakSpace = "\xC2\xA0";  // U+00A0

bool is_blank_byte(char c) { return c == ' ' || c == '\t'; }

std::uint8_t unsigned_at(std::string_view text, std::size_t at) {
  return static_cast<std::uint8_t>(text[at]);
}

// Returns the range of the second byte, which excludes overlong forms and surrogates.
bool is_second_byte(std::uint8_t first, std::uint8_t second) {
  if (first == 0xE0) return second >= 0xA0 && second <= 0xBF;
  if (first == 0xED) return second >= 0x80 && second <= 0x9F;
  if (first == 0xF0) return second >= 0x90 && second <= 0xBF;
  if (first == 0xF4) return second >= 0x80 && second <= 0x8F;
  return second >= 0x80 && second <= 0xBF;
}

}  // namespace

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string_view take_word(std::string_view& line) {
  const std::size_t from = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t to = std::min(line.find(' ', from), line.size());
  const std::string_view word = line.substr(from, to - from);
  line.remove_prefix(to);
  return word;
}

TextLine line_at(std::string_view text, std::size_t begin) {
  const std::size_t feed = std::min(text.find('\n', begin), text.size());
  const bool has_return = feed > begin && text[feed - 1] == '\r';
  return {{begin, has_return ? feed - 1 : feed}, std::min(feed + 1, text.size())};
}

std::size_t blank_size(std::string_view text, std::size_t at) {
  if (at >= text.size()) return 0;
  if (is_blank_byte(text[at])) return 1;
  return text.substr(at, kNoBreakSpace.size()) == kNoBreakSpace ? kNoBreakSpace.size() : 0;
}

std::size_t wide_blank_size(std::string_view text, std::size_t at) {
  const std::string_view here = text.substr(std::min(at, text.size()), 3);
  if (here.size() == 3 && here.starts_with("\xE2\x80")) {
    const auto last = static_cast<unsigned char>(here[2]);
    return last <= 0x8B || last == 0xAF ? 3 : 0;
  }
  return blank_size(text, at);
}

std::string_view trimmed_blanks(std::string_view text) {
  while (const std::size_t size = blank_size(text, 0)) text.remove_prefix(size);
  while (!text.empty()) {
    if (is_blank_byte(text.back())) {
      text.remove_suffix(1);
    } else if (text.ends_with(kNoBreakSpace)) {
      text.remove_suffix(kNoBreakSpace.size());
    } else {
      break;
    }
  }
  return text;
}

std::size_t code_point_size(std::string_view text, std::size_t at) {
  const std::uint8_t first = unsigned_at(text, at);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (text.size() - at < size || !is_second_byte(first, unsigned_at(text, at + 1))) return 0;
  for (std::size_t i = 2; i < size; ++i) {
    if ((unsigned_at(text, at + i) & 0xC0) != 0x80) return 0;
  }
  return size;
}

std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) {
    at += std::max<std::size_t>(code_point_size(text, at), 1);
  }
  return count;
}

bool is_valid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = code_point_size(text, at);
    if (size == 0) return false;
    at += size;
  }
  return true;
}

}  // namespace belay::research
