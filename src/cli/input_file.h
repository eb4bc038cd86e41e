#pragma once
// cli/input_file.h - reads a file that the user has named, or standard input.

#include <string>

#include "belay/result.h"

namespace belay::cli {

// Returns the contents of `name`, at most `most` bytes; "-" is standard input. Fails with
// `invalid`, with the file's name, if it is missing, cannot be read, is a directory, or is longer.
Result<std::string> read_input(const std::string& name, std::size_t most);

}  // namespace belay::cli
