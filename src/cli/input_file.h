#pragma once
// cli/input_file.h - the bytes of a file that a person named, or of standard input.

#include <string>

#include "belay/result.h"

namespace belay::cli {

// The bytes of `name`, at most `most`; "-" is standard input. `invalid`, with the file's name, for
// one that is missing, can't be read, is a directory or is longer.
Result<std::string> read_input(const std::string& name, std::size_t most);

}  // namespace belay::cli
