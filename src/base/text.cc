#include "base/swar.h"
#include "belay/value.h"

namespace belay {
namespace {

// Returns the length in bytes of the UTF-8 sequence at `offset`; 0 if it is not well-formed. Ranges
// from the Unicode Standard, table 3-7 (no overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t sequence_length(std::string_view text, std::size_t offset) {
  auto byte = [&](std::size_t i) {
    return offset + i < text.size() ? static_cast<unsigned char>(text[offset + i]) : 0u;
  };
  auto continues = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return byte(i) >= low && byte(i) <= high;
  };
  unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return continues(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    unsigned low = first == 0xe0 ? 0xa0 : 0x80;
    unsigned high = first == 0xed ? 0x9f : 0xbf;
    return continues(1, low, high) && continues(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    unsigned low = first == 0xf0 ? 0x90 : 0x80;
    unsigned high = first == 0xf4 ? 0x8f : 0xbf;
    return continues(1, low, high) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  std::size_t offset = 0;
  while (offset < text.size()) {
    if (text.size() - offset >= 8 && swar::is_ascii(text.data() + offset)) {
      offset += 8;
      continue;
    }
    std::size_t length = sequence_length(text, offset);
    if (length == 0) return offset;
    offset += length;
  }
  return std::nullopt;
}

}  // namespace belay
