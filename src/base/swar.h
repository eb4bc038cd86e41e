#pragma once
// base/swar.h - checks eight bytes of text with one operation ("SIMD within a register"), for long
// texts that are mostly ASCII. Each function takes the address of eight readable bytes.

#include <cstdint>
#include <cstring>

namespace belay::swar {

inline constexpr std::uint64_t each = 0x0101010101010101ULL;
inline constexpr std::uint64_t high_bits = 0x80 * each;

inline std::uint64_t load(const char* bytes) {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// Returns whether any byte is below `bound`. Requires bound <= 128.
inline bool any_below(std::uint64_t word, std::uint64_t bound) {
  return ((word - bound * each) & ~word & high_bits) != 0;
}

inline bool any_is(std::uint64_t word, char byte) {
  return any_below(word ^ static_cast<unsigned char>(byte) * each, 1);
}

inline bool is_ascii(const char* bytes) { return (load(bytes) & high_bits) == 0; }

// Returns whether a JSON string contains these bytes without an escape.
inline bool need_no_escape(const char* bytes) {
  std::uint64_t word = load(bytes);
  return !any_below(word, 0x20) && !any_is(word, '"') && !any_is(word, '\\');
}

}  // namespace belay::swar
