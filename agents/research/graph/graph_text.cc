#include "agents/research/graph/graph_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <vector>

#include "agents/research/graph/graph_rows.h"
#include "belay/value.h"

namespace belay::research {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::size_t kKeyPartBytesMax = 200;
constexpr std::size_t kKeyPartBeginBytes = 160;
constexpr double kWholeMax = 1e15;  // larger integers are shorter with an exponent

// Returns the longest beginning of at most `bytes` bytes that ends at a character.
std::string_view whole_characters(std::string_view text, std::size_t bytes) {
  std::size_t end = bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

std::string key_part(std::string_view part) {
  std::string clean = graph_text(part);
  if (clean.size() > kKeyPartBytesMax) {
    std::string hash = content_hash(clean);
    clean = std::string(whole_characters(clean, kKeyPartBeginBytes)) + "~" + hash;
  }
  std::string escaped;
  for (char c : clean) {
    if (c == '|') {
      escaped += "%7C";
    } else if (c == '%') {
      escaped += "%25";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

std::string graph_text(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    std::size_t length = first_invalid_utf8(text).value_or(text.size());
    valid += text.substr(0, length);
    text.remove_prefix(length);
    if (text.empty()) break;
    valid += kReplacement;
    text.remove_prefix(1);
  }
  if (valid.find('\0') == valid.npos) return valid;
  std::string without_nul;
  for (char c : valid) {
    if (c == '\0') {
      without_nul += kReplacement;
    } else {
      without_nul += c;
    }
  }
  return without_nul;
}

std::string graph_number(double number) {
  std::array<char, 32> buffer;
  char* limit = buffer.data() + buffer.size();
  bool is_whole = std::trunc(number) == number && std::fabs(number) < kWholeMax;
  auto written = is_whole ? std::to_chars(buffer.data(), limit, number, std::chars_format::fixed)
                          : std::to_chars(buffer.data(), limit, number);
  return written.ec == std::errc() ? std::string(buffer.data(), written.ptr) : std::string();
}

std::string content_hash(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3ULL;
  }
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[(hash >> shift) & 15];
  return text;
}

std::string graph_key(const std::vector<std::string_view>& parts) {
  std::string key;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) key += '|';
    key += key_part(parts[i]);
  }
  return key;
}

}  // namespace belay::research
