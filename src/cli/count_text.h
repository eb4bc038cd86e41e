#pragma once
// cli/count_text.h - formats a count with its noun.

#include <cstdint>
#include <string>
#include <string_view>

namespace belay::cli {

// Examples: "1 node", "2 nodes".
inline std::string count_text(std::uint64_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

}  // namespace belay::cli
