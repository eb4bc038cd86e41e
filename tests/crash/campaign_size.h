#pragma once
// tests/crash/campaign_size.h - the number of cases of a campaign
//
// Fewer under a sanitizer, and adjustable by environment variables.

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace belay::crash {

// Under a sanitizer each process takes several times as long. A part of the cases suffices there to
// find faults that only the sanitizer detects; the -O2 build runs the full number.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized = __has_feature(address_sanitizer);  // Clang
#else
inline constexpr bool kSanitized = false;
#endif

// Returns the value of an environment variable if it is a whole number, otherwise `otherwise`.
inline std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  std::string_view digits = text ? text : "";
  std::uint64_t number = 0;
  auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  bool whole = fault == std::errc() && end == digits.data() + digits.size();
  return whole ? number : otherwise;
}

}  // namespace belay::crash
