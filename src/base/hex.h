#pragma once
// base/hex.h - appends bytes as lower-case hexadecimal digits.

#include <cstdint>
#include <string>
#include <string_view>

namespace belay {

inline constexpr std::string_view hex_digits = "0123456789abcdef";

inline void append_hex(std::uint8_t byte, std::string& out) {
  out.push_back(hex_digits[byte >> 4]);
  out.push_back(hex_digits[byte & 0x0f]);
}

}  // namespace belay
