#pragma once
// tests/crash/campaign_size.h - how many cases a campaign has: a part of them under a sanitizer,
// and as many as a variable of the environment says.

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace belay::crash {

// Under a sanitizer each process takes several times as long: there a part of the cases has to do,
// for what only the sanitizer sees. The whole counts are those of the -O2 build.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized = __has_feature(address_sanitizer);  // clang
#else
inline constexpr bool kSanitized = false;
#endif

// The number that an environment variable holds; `otherwise` where it holds none.
inline std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  std::string_view digits = text ? text : "";
  std::uint64_t number = 0;
  auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  bool whole = fault == std::errc() && end == digits.data() + digits.size();
  return whole ? number : otherwise;
}

}  // namespace belay::crash
