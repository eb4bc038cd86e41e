#include "agents/research/checkpoints/semantic_version.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace belay::research {
namespace {

std::optional<std::uint32_t> version_number(std::string_view digits) {
  bool has_leading_zero = digits.size() > 1 && digits.front() == '0';
  if (digits.empty() || has_leading_zero) return std::nullopt;
  std::uint32_t number = 0;
  const char* end = digits.data() + digits.size();
  auto [rest, fault] = std::from_chars(digits.data(), end, number);
  if (fault != std::errc() || rest != end) return std::nullopt;
  return number;
}

}  // namespace

std::string version_text(const SemanticVersion& version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
         std::to_string(version.patch);
}

std::optional<SemanticVersion> semantic_version_from(std::string_view text) {
  if (text.size() > kVersionBytesMax) return std::nullopt;
  if (text.starts_with('v')) text.remove_prefix(1);
  std::array<std::uint32_t, 3> numbers{};
  std::size_t count = 0;
  for (bool is_last = false; !is_last; ++count) {
    if (count == numbers.size()) return std::nullopt;
    std::size_t end = std::min(text.find('.'), text.size());
    auto number = version_number(text.substr(0, end));
    if (!number) return std::nullopt;
    numbers[count] = *number;
    is_last = end == text.size();
    text.remove_prefix(is_last ? end : end + 1);
  }
  if (count < 2) return std::nullopt;
  return SemanticVersion{numbers[0], numbers[1], numbers[2]};
}

SemanticVersion format_of(const SemanticVersion& version) {
  return SemanticVersion{version.major, version.minor, 0};
}

}  // namespace belay::research
