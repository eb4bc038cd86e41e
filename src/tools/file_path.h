#pragma once
// tools/file_path.h - the rules for a path that a model chooses.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace belay::tools {

inline constexpr std::size_t path_bytes_max = 1024;
inline constexpr std::size_t component_bytes_max = 255;
inline constexpr std::size_t components_max = 32;

// The name of the file that a write creates first, in the folder of its path. Reserved.
inline constexpr std::string_view temporary_name = ".belay-write";

// Returns the rule that the path breaks, as the end of a sentence about it: "is empty".
std::optional<std::string> path_fault(std::string_view path);

std::vector<std::string> components_of(std::string_view path);

// Returns the path for a message: in quotes, short, and without characters that break a line.
std::string shown_path(std::string_view path);

}  // namespace belay::tools
