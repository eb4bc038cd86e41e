#pragma once
// tests/documents/source_text.h - reads files of the source tree.

#include <filesystem>
#include <string>

namespace belay::documents {

// Returns the contents of a file; a relative path begins at the root of the source tree.
std::string text_of(const std::filesystem::path& path);

}  // namespace belay::documents
