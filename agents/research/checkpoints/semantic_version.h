#pragma once
// agents/research/checkpoints/semantic_version.h - SemanticVersion: the version of an agent.
//
// https://semver.org without pre-releases and builds. Pure values, without I/O.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace belay::research {

inline constexpr std::size_t kVersionBytesMax = 20;  // of its text

struct SemanticVersion {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint32_t patch = 0;
  friend auto operator<=>(const SemanticVersion&, const SemanticVersion&) = default;
};

// Returns "1.1.0".
std::string version_text(const SemanticVersion& version);
// Reads "1.1", "1.1.0" and "v1.1"; nullopt for any other text, also for numbers with a leading zero
// or above 2^32 - 1, and for more than kVersionBytesMax bytes.
std::optional<SemanticVersion> semantic_version_from(std::string_view text);
// Returns the version with patch 0: patches do not change the format of a checkpoint.
SemanticVersion format_of(const SemanticVersion& version);

}  // namespace belay::research
