#pragma once
// agents/research/files/whole_file.h - reads and replaces small files.
//
// Blocks. Thread-safe.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "belay/result.h"

namespace belay::research {

// Reads a file; empty if it does not exist. Fails with `unavailable` if it cannot be read or has
// more bytes than `bytes_max`.
Result<std::optional<std::string>> read_if_exists(const std::string& path, std::size_t bytes_max);

// Writes a file as PendingFile does.
Result<Done> replace_file(const std::string& path, std::string_view bytes);

}  // namespace belay::research
