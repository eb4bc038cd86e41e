#include "base/percent_encoding.h"

namespace belay {

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kPlain = "-._~";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (char c : text) {
    bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    kPlain.find(c) != kPlain.npos;
    if (is_plain) {
      encoded += c;
    } else {
      auto byte = static_cast<unsigned char>(c);
      encoded += '%';
      encoded += kDigits[byte / 16];
      encoded += kDigits[byte % 16];
    }
  }
  return encoded;
}

}  // namespace belay
